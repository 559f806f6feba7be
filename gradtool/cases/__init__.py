"""With which arguments a Function is checked."""
