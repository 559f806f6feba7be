"""One Function checked at each of its cases, in this process."""
