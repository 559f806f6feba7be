"""Description of an exception of the user's code: one line, its place, and a traceback."""

from __future__ import annotations

import functools
import re
import sys
import traceback
from pathlib import Path
from types import TracebackType

import msgspec

from gradtool.package import OWN_CODE
from gradtool.results.paths import shown_path
from gradtool.results.report import Location
from gradtool.sandbox import debugger


class UserError(msgspec.Struct, frozen=True):
    """An exception of the user's code, as text."""

    summary: str
    """``ValueError: expected a matrix``, on one line."""
    location: Location | None
    """The innermost line that is not gradtool's, a library's or Python's own."""
    detail: str
    """The traceback from the user's first line on."""


def describe(error: BaseException, home: Path) -> UserError:
    """Describe `error`, which code below the folder `home` raised."""
    debugger.debug(error, _is_internal)
    try:
        return UserError(summarize(error), _location(error, home), _detail(error))
    except BaseException:  # The class of the exception, or that of its class, may do anything.
        return UserError(_name(error), None, "")


def user_method(error: BaseException, home: Path) -> str | None:
    """The method or function below `home` that raised `error`; None when no code there did."""
    for frame in traceback.extract_tb(error.__traceback__):
        if not _is_internal(frame.filename) and Path(frame.filename).is_relative_to(home):
            return frame.name
    return None


def summarize(error: BaseException) -> str:
    """The type and the first line of the text of `error`."""
    try:
        # `__str__` may be the user's code, and fail as well.
        text = str(error)
    except BaseException as failure:
        text = f"<its text raised {_name(failure)}>"
    first = next(iter(text.strip().splitlines()), "")
    if isinstance(error, SyntaxError):
        first = error.msg
    name = _name(error)
    return without_addresses(f"{name}: {first}") if first else name


def _name(error: BaseException) -> str:
    """The name of the type of `error`, which its metaclass cannot hide."""
    return str(type.__dict__["__name__"].__get__(type(error)))


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def without_addresses(text: str) -> str:
    """Text without the addresses of objects, which differ from run to run."""
    return _ADDRESS.sub("", text)


def _location(error: BaseException, home: Path) -> Location | None:
    if isinstance(error, SyntaxError) and error.filename:
        return Location(path=shown_path(Path(error.filename)), line=error.lineno)
    frames = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    users = [frame for frame in frames if not _is_internal(frame[0])]
    nearest = [frame for frame in users if Path(frame[0]).is_relative_to(home)]
    nearest = nearest or [frame for frame in users if not _is_of_the_library(frame[0])]
    if not nearest:
        return None
    filename, line = nearest[-1]
    return Location(path=shown_path(Path(filename)), line=line)


def _is_of_the_library(filename: str) -> bool:
    """Return True for a file of what ``import torch`` gave the user's code."""
    folders = getattr(sys.modules.get("torch"), "__path__", ())
    return any(Path(filename).is_relative_to(folder) for folder in folders)


def _detail(error: BaseException) -> str:
    """The traceback, without the frames that led from gradtool to the user's code."""
    lines = traceback.format_exception(type(error), error, _first_user_frame(error))
    return without_addresses("".join(lines))


def _first_user_frame(error: BaseException) -> TracebackType | None:
    frame = error.__traceback__
    while frame is not None and _is_internal(frame.tb_frame.f_code.co_filename):
        frame = frame.tb_next
    return frame


def _is_internal(filename: str) -> bool:
    return filename.startswith((OWN_CODE, "<frozen importlib")) or filename == functools.__file__
