"""Probes: hazards, asynchrony, cost of pinning, overlap with computations, NUMA nodes."""
