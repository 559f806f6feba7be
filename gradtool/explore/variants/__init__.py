"""The families of variants: each yields arguments beside those of a case, of one kind."""
