"""The view that `verify` has of an engine, and the coordinates it compares in."""
