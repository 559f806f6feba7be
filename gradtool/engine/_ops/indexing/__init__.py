"""Elements picked, placed and replaced."""
