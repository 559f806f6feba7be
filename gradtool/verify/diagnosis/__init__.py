"""What is wrong with a gradient, and where."""
