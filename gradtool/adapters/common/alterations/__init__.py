"""Forwards with one expression altered, for which a wrong backward may be right."""
