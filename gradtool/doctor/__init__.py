"""``gradtool doctor``: what works on this machine, and what to do about the rest.

Nothing is imported before its probe runs, and an exception becomes the probe's result.
"""
