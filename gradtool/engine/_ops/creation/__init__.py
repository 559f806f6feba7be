"""Tensors made from sizes, data or random numbers, and converted."""
