"""Inference: arguments found by trying, for a Function that comes without cases."""
