"""Writes docs/conformance.md: how the engine compares with PyTorch over its operator database.

``python -m tests.engine.conformance.write_page`` compares every sample (minutes), and writes
nothing if an entry differs that `explained.py` does not explain, or explains one that agrees.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import torch

from tests.engine.conformance import database
from tests.engine.conformance.explained import EXPLAINED
from tests.engine.conformance.run import check

PAGE = Path(__file__).resolve().parents[3] / "docs" / "conformance.md"

HEADER = """# Conformance

PyTorch {version} tests its operators with a database of entries, each with samples of arguments.
The engine runs the same samples. Compared are the value, its dtype and shape, the strides of a
view, `requires_grad`, the gradient, the gradient's gradient and forward mode, for float64,
complex128 and float32, to the rounding of the dtype. An entry agrees when every sample does.

Of {total} differentiable entries on dense tensors, {agreeing} agree and {differing} differ for the
reasons below. Not compared are operators on or to sparse tensors, and kernels that PyTorch calls
on behalf of another operator: {kernels}.

This page is written by `python -m tests.engine.conformance.write_page`.
"""


def main() -> None:
    """Compare all entries and write the page, if nothing differs without a reason."""
    outcome = {name: check(entry) for name, entry in database.entries().items()}
    differing = {name for name, found in outcome.items() if any(found.values())}
    wrong = sorted(differing ^ EXPLAINED.keys())
    if wrong:
        sys.exit(f"nothing written: differ without a reason, or agree with one: {', '.join(wrong)}")
    PAGE.write_text(page(sorted(outcome)))


def page(names: list[str]) -> str:
    """The page for these entries."""
    agreeing = [name for name in names if name not in EXPLAINED]
    header = HEADER.format(
        version=torch.__version__.split("+")[0],
        total=len(names),
        agreeing=len(agreeing),
        differing=len(EXPLAINED),
        kernels=listed(database.KERNELS),
    )
    reasons = [f"| `{name}` | {EXPLAINED[name]} |" for name in sorted(EXPLAINED)]
    rows = [f"| `{name}` | {dtypes(name)} |" for name in agreeing]
    return "\n".join([
        header, "## Differ", "", "| Entry | Reason |", "|---|---|", *reasons, "",
        "## Agree", "", "| Entry | dtypes |", "|---|---|", *rows, "",
    ])  # fmt: skip


def dtypes(name: str) -> str:
    return listed(
        str(d).removeprefix("torch.") for d in database.dtypes_of(database.entries()[name])
    )


def listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


if __name__ == "__main__":
    main()
