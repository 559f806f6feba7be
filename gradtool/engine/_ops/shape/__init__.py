"""The same elements in another shape or order."""
