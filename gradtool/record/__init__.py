"""Recording: arguments that a program passes to its Functions, written as cases."""
