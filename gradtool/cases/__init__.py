"""Cases: the arguments with which a Function is checked."""
