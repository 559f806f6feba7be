"""A run in the tree of another commit, in a process of its own, which tells only what it found.

It reads what to do from standard input and answers on standard output, as JSON. What the checked
code prints goes elsewhere.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec

from gradtool.config.options import CheckOptions
from gradtool.errors import UsageError
from gradtool.policy.baseline import Baseline, Entry, entries_of
from gradtool.workers.messages import WorkerFault


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What to check."""

    options: CheckOptions
    tree: str
    """The folder that nodes are told relative to."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, or why nothing could be."""

    entries: tuple[Entry, ...] = ()
    refusal: str | None = None
    interrupted: bool = False


def main() -> None:
    """Answer one request."""
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
        out.write(msgspec.json.encode(_answer(request)))


def _answer(request: Request) -> Answer:
    from gradtool.run.runner import check

    try:
        report = check(request.options)
    except UsageError as error:
        return Answer(refusal=str(error))
    if report.faults:
        raise WorkerFault.of(report.faults[0])
    found = entries_of(Baseline(Path(request.tree, "baseline")), report)
    return Answer(entries=tuple(found.values()), interrupted=report.interrupted)
