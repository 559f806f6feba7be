"""What Functions cost: their time by phase, memory and operations, at the cases of a check."""
