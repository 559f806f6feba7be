"""Policies, which rewrite results: ignores, tolerances, flaky seeds, baseline, requirements."""
