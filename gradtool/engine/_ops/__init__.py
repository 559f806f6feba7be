"""The table of primitives by family, and the functions made of them."""
