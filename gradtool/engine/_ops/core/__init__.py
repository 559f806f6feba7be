"""What a primitive is, and what all families of primitives are made with."""
