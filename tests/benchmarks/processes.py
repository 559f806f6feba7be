"""Whole processes, as a person or a CI job starts them: wall time and memory."""

from __future__ import annotations

import compileall
import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.benchmarks.table import Table, milliseconds, times

ROOT = Path(__file__).parents[2]
ABOUT = """Wall time from start to exit, workers included. Memory is the peak of all processes of
the command together, with shared memory counted once (proportional set size, sampled every 5 ms in
separate runs). Both sides are single-threaded and have compiled bytecode. PyTorch runs those
of the checks that it has: first and second order, and batched."""
COLUMNS = ("Command", "gradtool", "PyTorch", "gradtool / PyTorch")
ROUNDS = 7
LOOK = 0.005
"""Seconds between two looks at the memory."""

GRADTOOL = (sys.executable, "-m", "gradtool")
TORCH_CHECKS = """
import torch

torch.set_num_threads(1)


class LinearFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        return output if bias is None else output + bias

    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        grad_bias = None if bias is None else grad_output.sum(0)
        return grad_output.mm(weight), grad_output.t().mm(input), grad_bias


input, weight, bias = (
    torch.randn(shape, dtype=torch.double, requires_grad=True) for shape in ((3, 4), (5, 4), (5,))
)
for inputs in ((input, weight), (input, weight, bias)):
    assert torch.autograd.gradcheck(LinearFunction.apply, inputs, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(LinearFunction.apply, inputs, check_batched_grad=True)
"""


def tables() -> Iterable[Table]:
    """One."""
    compileall.compile_dir(ROOT / "gradtool", quiet=1)  # As an installer leaves it.
    table = Table("Whole processes", ABOUT, COLUMNS)
    check = (*GRADTOOL, "check", "samples/linear.py")
    torch_checks = (sys.executable, "-c", TORCH_CHECKS)
    _add(table, "check samples/linear.py vs. gradcheck and gradgradcheck", check, torch_checks)
    _add(table, "--help vs. import torch", (*GRADTOOL, "--help"), _python("import torch"))
    yield table


def _python(source: str) -> Sequence[str]:
    return (sys.executable, "-c", source)


def _add(table: Table, words: str, ours: Sequence[str], theirs: Sequence[str]) -> None:
    for what, measure, show, rounds in (
        ("time", seconds, milliseconds, ROUNDS),
        ("memory", memory, mebibytes, 3),
    ):
        turns = [(measure(ours), measure(theirs)) for _ in range(1 + rounds)][1:]
        medians = [show(statistics.median(side)) for side in zip(*turns, strict=True)]
        ratio = statistics.median(a / b for a, b in turns)
        table.rows.append((f"{words}: {what}", *medians, times(ratio)))


def mebibytes(size: float) -> str:
    """Bytes as a cell."""
    return f"{size / 2**20:.1f} MiB"


def seconds(command: Sequence[str], expected: int = 0) -> float:
    """Wall time of a command."""
    start = time.monotonic()
    _end(_start(command), expected)
    return time.monotonic() - start


def memory(command: Sequence[str], expected: int = 0) -> float:
    """Bytes that a command and what it starts hold at the most at one time."""
    process = _start(command)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(map(_held, _family(process.pid))))
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(LOOK)
    _end(process, expected)
    return peak


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def _end(process: subprocess.Popen[bytes], expected: int) -> None:
    _, said = process.communicate()
    if process.returncode != expected:
        raise SystemExit(f"{process.args!r} exited with {process.returncode}: {said.decode()}")


def _family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    found = [pid]
    for each in found:
        with contextlib.suppress(OSError):
            children = Path(f"/proc/{each}/task/{each}/children").read_text()
            found.extend(map(int, children.split()))
    return found


def _held(pid: int) -> int:
    """The process's share of the memory, in bytes; 0 once it has ended."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0
