"""Names the mistake in a gradient, finds its place, and collects the evidence."""
