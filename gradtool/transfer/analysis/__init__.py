"""Conclusions from a report: fits, advice, changes since an earlier run, requirements."""
