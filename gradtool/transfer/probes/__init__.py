"""Measurements besides the cells: hazards, asynchrony, pinning, overlap, NUMA nodes."""
