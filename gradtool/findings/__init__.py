"""Findings: problems of the user's code, as reports hold them."""
