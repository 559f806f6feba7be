"""Routes on which bytes can be copied, each an `operation.Route`."""
