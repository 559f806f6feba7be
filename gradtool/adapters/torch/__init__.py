"""PyTorch as a library."""
