"""Prints how gradtool compares: ``python -m tests.benchmarks [--write] [WORD ...]``.

With words only the groups of these names are run. ``--write`` keeps what came of a whole run in
``docs/benchmarks.md``. Needs PyTorch; autograd and JAX are compared with where they are there.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.benchmarks.table import Table

# Processes come first: what this process has loaded it would share with them.
GROUPS = (
    "processes",
    "gradient_checks",
    "torch_engine",
    "small_tensors",
    "operators",
    "scale",
    "peers",
)
PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

HEAD = """# How fast it is

Medians of {where}, one thread per side, alternating between the two sides of a row. A ratio below 1
means that gradtool takes less. Compare the ratios; absolute times depend on the machine and its
load. Written by `python -m tests.benchmarks --write`.

"""


def main(arguments: list[str]) -> None:
    """Run the groups and print their tables."""
    words = [each for each in arguments if each != "--write"]
    found = []
    for table in _tables([each for each in GROUPS if each in words] or GROUPS):
        print(table.text(), flush=True)
        found.append(table)
    if "--write" in arguments:
        head = HEAD.format(where=_where())
        PAGE.write_text(head + "\n".join(each.markdown() for each in found), encoding="utf-8")


def _tables(groups: Iterable[str]) -> Iterator[Table]:
    for group in groups:
        yield from importlib.import_module(f"tests.benchmarks.{group}").tables()


def _where() -> str:
    packages = ("numpy", "torch", "autograd", "jax")
    versions = [f"{name} {version}" for name in packages if (version := _version(name))]
    return f"one run with Python {platform.python_version()}, {', '.join(versions)}"


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


if __name__ == "__main__":
    if not ONE_THREAD.items() <= os.environ.items():  # They are read when libraries are loaded.
        command = [sys.executable, "-m", "tests.benchmarks", *sys.argv[1:]]
        os.execve(sys.executable, command, {**os.environ, **ONE_THREAD})
    main(sys.argv[1:])
