"""What only PyTorch answers."""
