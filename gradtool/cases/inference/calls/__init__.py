"""Calls of a Function in other code, and the arguments that they show."""
