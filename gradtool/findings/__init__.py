"""How what went wrong becomes a `Finding`."""
