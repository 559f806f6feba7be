"""What only the bundled engine answers."""
