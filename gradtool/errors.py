"""`UsageError`: a run that cannot start because of what the user gave it."""

from __future__ import annotations


class UsageError(Exception):
    """A path, an option or the configuration is wrong, so the run cannot start.

    The text is one line for the user: what, where, what to do.
    """
