"""What each operation does with each dtype, here and in PyTorch: taken or refused, and what of.

    python -m tests.engine.ops.dtypes.dtype_sweep      # lists what differs

A call is brought to each dtype twice: what is floating or complex in it alone, and all of it.
Tensors without elements are left out, of which PyTorch's kernels are not asked, and an error is
taken for what catches it: a NotImplementedError is a RuntimeError.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.engine.ops.cases.case import OpCase
from tests.engine.ops.cases.families import FAMILIES
from tests.engine.ops.compare import flatten

DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
REFUSALS = (RuntimeError, IndexError, TypeError, ValueError)
EACH = 2
"""How many cases of a name are asked."""


def cases(family: str) -> Iterator[OpCase]:
    """Some of each name."""
    seen: Counter[str] = Counter()
    for case in FAMILIES[family]:
        seen[case.name] += 1
        if seen[case.name] <= EACH:
            yield case


def deviations(family: str, engine: Any, torch: Any) -> Iterator[tuple[str, str, str]]:
    """(case, dtype, what differs); a dtype with a star is that of all tensors."""
    for case in cases(family):
        rng = case.generator()
        drawn = [np.asarray(arg.draw(rng)) for arg in case.args]
        if all(array.size for array in drawn):
            yield from _of_one(case, drawn, engine, torch)


def _of_one(
    case: OpCase, drawn: list[Any], engine: Any, torch: Any
) -> Iterator[tuple[str, str, str]]:
    for kinds, star in (("fc", ""), ("biufc", "*")):
        chosen = [array.dtype.kind in kinds for array in drawn]
        if not any(chosen) or (star and not any(array.dtype.kind in "biu" for array in drawn)):
            continue
        for dtype in DTYPES:
            with np.errstate(all="ignore"):
                arrays = [
                    array.astype(dtype) if it else array
                    for array, it in zip(drawn, chosen, strict=True)
                ]
            ours, theirs = outcome(engine, case, arrays), outcome(torch, case, arrays)
            if ours != theirs:
                yield case.name, dtype + star, f"{theirs} in PyTorch, {ours} here"


def outcome(t: Any, case: OpCase, arrays: Sequence[Any]) -> str:
    """The dtypes of what comes out, or what is raised."""
    try:
        with t.no_grad():
            found = flatten(case.call(t, *[t.tensor(array) for array in arrays]))
    except REFUSALS as error:
        return next(kind.__name__ for kind in REFUSALS if isinstance(error, kind))
    return " ".join(str(getattr(each, "dtype", type(each).__name__)) for each in found)


def main() -> None:
    """Print what differs."""
    import warnings

    import torch

    import gradtool.engine as engine

    warnings.simplefilter("ignore")
    for family in FAMILIES:
        for each in deviations(family, engine, torch):
            print(family, *each, sep=" | ")


if __name__ == "__main__":
    main()
