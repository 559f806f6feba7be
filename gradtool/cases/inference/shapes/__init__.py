"""Shapes of arguments, as the source of forward shows them."""
