"""Confinement of the user's code within a process: time, memory, process state, errors."""
