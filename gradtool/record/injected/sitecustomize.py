"""Starts the observer in every Python that a recorded command starts.

Its folder is on ``PYTHONPATH``, so that ``site`` imports this file. A ``sitecustomize`` of the
user's own, which it hides, is run after it.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def _start() -> None:
    spec = importlib.util.spec_from_file_location("_gradtool_observer", _HERE / "observer.py")
    assert spec is not None
    assert spec.loader is not None
    observer = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = observer
    spec.loader.exec_module(observer)
    observer.start()


def _run_hidden() -> None:
    """Run the ``sitecustomize`` that would have been found without this one."""
    places = [place for place in sys.path if Path(place).resolve() != _HERE]
    spec = PathFinder.find_spec("sitecustomize", places)
    if spec is None or spec.loader is None:
        return
    module = sys.modules["sitecustomize"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


if os.environ.get("GRADTOOL_RECORD"):
    try:
        _start()
    except Exception as error:  # The recorded program has to run, recorded or not.
        print(f"gradtool record: this process is not recorded: {error!r}", file=sys.stderr)
_run_hidden()
