"""Repairs of a backward, each of which undoes a common mistake."""
