"""Measurement of one cell: its operation, the samples, and the checks that can refuse them."""
