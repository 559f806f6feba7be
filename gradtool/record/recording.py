"""A command run with the observer in every Python that it starts."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from gradtool.errors import UsageError
from gradtool.record.notes import Recorded, read_notes

_INJECTED = Path(__file__).resolve().parent / "injected"


def record(
    command: Sequence[str], *, engine: str | None, limit: int, root: Path
) -> tuple[int, list[Recorded]]:
    """Run `command` and return its exit code and the arguments of its Functions.

    Args:
        command: A program and its arguments. Every Python it starts is observed, unless it ignores
            ``PYTHONPATH``.
        engine: ``torch`` or ``bundled``; None: the former where it is installed.
        limit: How many sets of arguments to keep of one Function.
        root: The folder whose Functions are recorded.

    Raises:
        UsageError: The command cannot be started.
    """
    with tempfile.TemporaryDirectory(prefix="gradtool-record-") as folder:
        environment = _environment(folder, engine, limit, root)
        try:
            ended = subprocess.run(list(command), env=environment, check=False)
        except OSError as error:
            raise UsageError(f"{command[0]} cannot be run: {error.strerror}") from None
        return ended.returncode, read_notes(Path(folder), limit)


def _environment(folder: str, engine: str | None, limit: int, root: Path) -> dict[str, str]:
    given = os.environ.get("PYTHONPATH")
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(_INJECTED), given))),
        "GRADTOOL_RECORD": folder,
        "GRADTOOL_RECORD_ENGINE": engine or "",
        "GRADTOOL_RECORD_LIMIT": str(limit),
        "GRADTOOL_RECORD_ROOT": os.path.realpath(root),
        "GRADTOOL_RECORD_HOME": str(_INJECTED.parents[2]),
    }
