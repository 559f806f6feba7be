"""Compares the engine with PyTorch over the operator database of PyTorch's own tests."""
