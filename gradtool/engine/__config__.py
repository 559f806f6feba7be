"""How the engine was built, for code that asks ``torch.__config__``: from Python, with nothing."""

from __future__ import annotations

import os

from gradtool.engine.version import __version__


def show() -> str:
    """What PyTorch would list of its libraries and flags: none of them is here."""
    return f"gradtool's engine, in place of PyTorch {__version__}: NumPy and CuPy"


def parallel_info() -> str:
    """What is known of threads, in PyTorch's form."""
    return f"ATen/Parallel:\n\tat::get_num_threads() : {os.cpu_count() or 1}\n"
