"""Edits of a forward that common mistakes in a backward come down to."""
