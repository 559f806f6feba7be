"""A program as source text: statements over `torch`, and a script that anyone can run."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

PRELUDE = """\
import copy
import torch
import torch.autograd.forward_ad as fwAD
from torch.autograd import Function
from torch.utils.checkpoint import checkpoint

opened = []


def enter(context):
    context.__enter__()
    opened.append(context)


def leave():
    opened.pop().__exit__(None, None, None)
"""
"""What every program may use; `note` is the reader's in a script, and the recorder's in a run."""

NOTE = """\


def note(*values):
    print(*values)


"""


@dataclass(frozen=True)
class Program:
    """Statements that are run one after another, whether those before them raised or not."""

    seed: int
    statements: tuple[str, ...]
    watched: bool = True
    """Every tensor is looked at after every statement, and not just what it bound."""

    def without(self, dropped: range) -> Program:
        """This program less some statements."""
        kept = [each for at, each in enumerate(self.statements) if at not in dropped]
        return Program(self.seed, tuple(kept), self.watched)

    def script(self, raising: frozenset[int] = frozenset()) -> str:
        """The program as a file, with the statements that raise caught."""
        lines = [
            _caught(each) if at in raising else each for at, each in enumerate(self.statements)
        ]
        return PRELUDE + NOTE + "\n".join(lines) + "\n"


def _caught(statement: str) -> str:
    inside = textwrap.indent(statement, "    ")
    return f"try:\n{inside}\nexcept Exception as error:\n    note(type(error).__name__, error)"
