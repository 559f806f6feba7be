"""Sampling and statistics, independent of what is timed.

Times are in seconds, sizes in bytes; a clock returns nanoseconds.
"""
