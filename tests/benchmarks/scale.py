"""What a check costs as inputs, outputs, Functions and processes become many."""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import gradtool.engine as engine
from tests.benchmarks.pairs import timed_alone
from tests.benchmarks.processes import GRADTOOL, mebibytes, memory, seconds
from tests.benchmarks.table import Table, milliseconds

SIDES = (10, 100, 1000)
MANY = (1, 10, 40)
LARGE = 10**6

MODULE = """
import torch
from torch.autograd import Function
{functions}
"""
FUNCTION = """
class Scaled{number}(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x + {number}

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x

    @staticmethod
    def sample_inputs():
        yield (torch.randn({size}, dtype=torch.double),)
"""


def tables() -> Iterable[Table]:
    """By entries of the Jacobian, by Functions and workers, and for one large input."""
    yield _by_entries()
    with tempfile.TemporaryDirectory() as folder:
        yield _by_functions(Path(folder))
        yield _large(Path(folder))


def _by_entries() -> Table:
    about = """These are the times of `gradcheck` for `x @ weight` with respect to `x`. The
number of entries in the Jacobian is the number of inputs times the number of outputs."""
    columns = ("Inputs", *(f"{m} outputs" for m in SIDES))
    rows = [(str(n), *(milliseconds(_seconds(n, m)) for m in SIDES)) for n in SIDES]
    return Table("The whole Jacobian, by size", about, columns, rows)


def _seconds(inputs: int, outputs: int) -> float:
    rng = np.random.default_rng(0)
    x = engine.from_numpy(rng.standard_normal(inputs)).requires_grad_()
    weight = engine.from_numpy(rng.standard_normal((inputs, outputs)))

    class Product(engine.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x @ weight

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            return weight @ grad_output

    return timed_alone(lambda: engine.autograd.gradcheck(Product.apply, (x,)))


def _by_functions(folder: Path) -> Table:
    about = """`gradtool check` runs all rules on a module. The times are wall times of the whole
process."""
    title = "A whole check, by number of Functions and workers"
    table = Table(title, about, ("Functions", "-j 1", "-j 2"))
    for count in MANY:
        module = _module(folder, f"of_{count}.py", count, size=20)
        runs = [
            statistics.median(seconds((*GRADTOOL, "check", str(module), "-j", jobs)) for _ in "abc")
            for jobs in ("1", "2")
        ]
        table.rows.append((str(count), *map(milliseconds, runs)))
    return table


def _large(folder: Path) -> Table:
    about = """One input of a million float64 elements (7.6 MiB), `--select GT101`. The memory is
what the check needs beyond the same check with ten elements."""
    columns = ("Elements", "forward evaluations", "backward evaluations", "extra memory")
    table = Table("A large input", about, columns)
    least = 0.0
    for size in (10, LARGE):
        module = _module(folder, f"large_{size}.py", 1, size)
        report = folder / f"{size}.json"
        check = (*GRADTOOL, "check", str(module), "--select", "GT101", "--report", f"json={report}")
        held = memory(check)
        least = least or held
        cost = json.loads(report.read_text())["modules"][0]["functions"][0]["cases"][0]["cost"]
        evaluations = (str(cost["forward"]), str(cost["backward"]))
        above = mebibytes(held - least)
        table.rows.append((str(size), *evaluations, above))
    return table


def _module(folder: Path, name: str, count: int, size: int) -> Path:
    functions = "\n".join(FUNCTION.format(number=number, size=size) for number in range(count))
    path = folder / name
    path.write_text(MODULE.format(functions=functions))
    return path
