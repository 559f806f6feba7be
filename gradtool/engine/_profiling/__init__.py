"""Recording of operations for the profilers; loaded with the first one."""
