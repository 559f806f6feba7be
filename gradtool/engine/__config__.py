"""``torch.__config__`` for code that prints it: the engine is plain Python."""

from __future__ import annotations

import os

from gradtool.engine.version import __version__


def show() -> str:
    """Return a line in place of PyTorch's libraries and build flags."""
    return f"gradtool's engine, in place of PyTorch {__version__}: NumPy and CuPy"


def parallel_info() -> str:
    """Return the number of threads, in PyTorch's form."""
    return f"ATen/Parallel:\n\tat::get_num_threads() : {os.cpu_count() or 1}\n"
