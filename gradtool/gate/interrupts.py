"""Whether a ``KeyboardInterrupt`` is a person's wish to stop, or the checked code's own doing.

In the process that a person started it is the wish. A worker is out of the terminal's reach,
so there it can only be raised by the code itself.
"""

from __future__ import annotations

_interruptible = True


def is_interruptible() -> bool:
    """Whether this process is one that a person interrupts."""
    return _interruptible


def never_interrupted() -> None:
    """From now on this process is out of reach."""
    global _interruptible
    _interruptible = False
