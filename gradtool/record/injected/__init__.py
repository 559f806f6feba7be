"""Files that run in the recorded program, whose Python need not have gradtool."""
