"""Reasons for which a run, or a single measurement, is impossible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gradtool.device.cuda import NO_COMPILER


class TransferError(Exception):
    """The options cannot be satisfied; the text is one line for the user."""


class UnavailableError(Exception):
    """One measurement is impossible here, the others are not; the text gives the reason."""


def reason_of(error: BaseException) -> str:
    """The first line of an error's text, or its type's name; a remedy where one is known."""
    if "libnvrtc" in str(error):
        return NO_COMPILER
    return next(iter(str(error).splitlines()), "") or type(error).__name__


@contextmanager
def guarded(failed: Callable[[str], object]) -> Iterator[None]:
    """Run a block; call `failed` with the reason if it fails, so that the run goes on.

    CUDA, CuPy's compiler, PyTorch's import and the system each raise errors of their own.

    Raises:
        TransferError: The block raised it: the options cannot be satisfied.
    """
    try:
        yield
    except TransferError:
        raise
    except Exception as error:
        failed(reason_of(error))
