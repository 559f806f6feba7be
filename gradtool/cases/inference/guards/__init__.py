"""Conditions that refuse arguments, and the arguments that meet them."""
