"""Readers of sources, docstrings and names, for what they say of the arguments of a Function."""
