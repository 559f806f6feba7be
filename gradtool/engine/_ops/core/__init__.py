"""Primitives, and what all families of ops are made with."""
