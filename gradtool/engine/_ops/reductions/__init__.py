"""Functions along dimensions: sums, extremes, order, running results."""
