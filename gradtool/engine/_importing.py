"""Recognition of code that runs because a module is imported, by the stack."""

from __future__ import annotations

import dis
import sys
from pathlib import Path
from types import FrameType

_ENGINE = str(Path(__file__).parent)
_OWN = str(Path(__file__).parents[1])
_IMPORTERS = str(Path(__file__).parents[1] / "collect")


def is_importing() -> bool:
    """Return True while the top level of a module other than the main program runs.

    The nearest caller decides that is such a module, or gradtool's own: a Function that is called
    to be checked may well be below an import of the program that checks it.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_OWN):
            if file.startswith(_IMPORTERS):
                return True
            if not file.startswith(_ENGINE):
                return False
        elif frame.f_code.co_name == "<module>":
            # Code that a program runs without an import has no specification.
            is_imported = frame.f_globals.get("__spec__") is not None
            return is_imported and frame.f_globals.get("__name__") != "__main__"
        frame = frame.f_back
    return False


def unpacked_into(frame: FrameType) -> int:
    """The number of targets, if `frame` is about to unpack a value into such; else 0."""
    code = frame.f_code.co_code
    is_unpacking = dis.opname[code[frame.f_lasti]] == "UNPACK_SEQUENCE"
    return code[frame.f_lasti + 1] if is_unpacking else 0
