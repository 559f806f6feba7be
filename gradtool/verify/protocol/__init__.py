"""What `verify` sees of an engine, and the coordinates it compares in."""
