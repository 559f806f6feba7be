"""Measuring: when to sample, how often, and what the samples say; not what is timed.

Times are seconds, sizes bytes, and a clock gives nanoseconds.
"""
