"""Arguments found by trying, for a Function that brings none."""
