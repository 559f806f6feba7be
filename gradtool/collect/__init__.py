"""Collection: from paths on a command line to the Functions in the modules."""
