"""The terminal edge: parsing, printing and exit codes, and nothing else."""
