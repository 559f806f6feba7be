"""What becomes of results: ignores, tolerances, baseline, requirements, flaky seeds."""
