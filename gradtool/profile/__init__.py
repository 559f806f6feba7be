"""Cost of Functions at the cases of a check: time by phase, memory, operations."""
