"""What confines foreign code within a process: time, memory, process state, streams."""
