"""Arguments beside the given cases, at which a Function that passed them may be wrong."""
