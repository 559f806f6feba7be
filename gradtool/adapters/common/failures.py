"""What the checker is told when the user's code raises, or the engine refuses it."""

from __future__ import annotations

from pathlib import Path

from gradtool.adapters.library import library
from gradtool.sandbox.user_errors import describe
from gradtool.verify.protocol.observation import Failure, Stage


def failure_of(error: Exception, stage: Stage, home: Path) -> Failure:
    """`error` as the seam knows it; `home` is the folder of the user's module.

    The place is the user's innermost line: where an operation of the engine raised, the line
    that called it. The engine's own verdicts on what ``backward`` returned have none.
    """
    told = describe(error, home)
    return Failure(
        stage=stage,
        kind=library().contract(error),
        message=_in_known_words(told.summary, error),
        traceback=told.detail,
        path=told.location.path if told.location else None,
        line=told.location.line if told.location else None,
    )


def _in_known_words(summary: str, error: Exception) -> str:
    """`summary` with Python's name for an error of the engine's own kind, as torch raises it."""
    own = type(error)
    if not own.__module__.startswith("gradtool."):
        return summary
    known = next(base for base in own.__mro__ if base.__module__ == "builtins")
    return summary.replace(own.__name__, known.__name__, 1)
