"""Functions of each element alone."""
