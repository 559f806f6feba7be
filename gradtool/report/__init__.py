"""One `Report`, many renderers: each a file, each a function from a report to text."""
