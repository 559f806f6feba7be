"""Plan of a run: its options, the scenarios there are, and the cells to measure."""
