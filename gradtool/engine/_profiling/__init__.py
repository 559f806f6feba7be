"""What a profiler records, and how it gets to hear of it; loaded with the first profiler."""
