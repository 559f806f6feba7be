"""The limit is on what a Function may write to, not on addresses that are kept free."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux reports the memory in use"
)

_LIMITED = """
import threading
from gradtool.sandbox.memory_limit import memory_limit

MIB = 1 << 20

def allocated(size):
    try:
        return len(bytearray(size)) == size
    except MemoryError:
        return False

with memory_limit(300 * MIB):
    threads = [threading.Thread(target=threading.Event().wait, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    print(allocated(150 * MIB), allocated(350 * MIB))
print(allocated(350 * MIB))
"""


def test_threads_cost_what_they_use() -> None:
    """Each has a stack of 8 MiB or less; of addresses it takes 64 MiB besides."""
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1])" + _LIMITED, ROOT],
        env={**os.environ, "MALLOC_ARENA_MAX": "8"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    assert done.stdout.split() == ["True", "False", "True"]
