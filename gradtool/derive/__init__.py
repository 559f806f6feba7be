"""Writing of a backward: forward as a program of operations, reversed and printed."""
