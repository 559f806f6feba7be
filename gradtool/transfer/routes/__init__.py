"""The ways in which bytes can be moved, one in a file, each an `operation.Route`."""
