"""Differences that have a reason, and are not counted."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.engine.fuzz.compare import Difference, same
from tests.engine.fuzz.program import Program


@dataclass(frozen=True)
class Explained:
    """A reason, and which differences it explains."""

    text: str
    holds: Callable[[Difference, Program], bool]
    goes_on: bool = False
    """The two sides are in the same state all the same, and the rest of the program counts."""


def _besides_packing(events: object) -> list[object]:
    return [each for each in events if each[:1] not in (("pack",), ("unpack",))]  # type: ignore[attr-defined]


def _is_of_packing(difference: Difference, _program: Program) -> bool:
    return difference.what == "events" and same(
        tuple(_besides_packing(difference.expected)), tuple(_besides_packing(difference.got)), 2e-2
    )


def _is_of_names(difference: Difference, _program: Program) -> bool:
    """Both have a node, of which torch's does not say what became of a view."""
    expected = f"{difference.expected}"
    return (
        difference.what == "grad_fn"
        and None not in (difference.expected, difference.got)
        and not any(each in expected for each in ("CopySlices", "AsStrided", "NotImplemented"))
    )


_REQUIRES_NONE = "does not require grad and does not have a grad_fn"
_OF_LAYOUT = re.compile(
    "more than one element of the written-to tensor"
    "|some elements of the input tensor and the written-to tensor"
    "|ZeroTensors are immutable"
    "|is a view and is being modified inplace"
    "|A view was created in no_grad mode"
    "|Can't detach views in-place"
    "|'NoneType' object has no attribute"
    "|setStorage"
)
"""Errors that depend on how a tensor lies in memory, or of what it is a view."""
_OF_GRAPH = re.compile(
    "Trying to backward through the graph a second time"
    f"|{_REQUIRES_NONE}"
    "|One of the differentiated Tensors does not require grad"
)
"""Errors that depend on the nodes by which a tensor was computed."""


_ASKS_FOR_NODES = re.compile(r"^note\(.*(next_functions|\.node\.name\(\))")


def _text(program: Program) -> str:
    return "\n".join(program.statements)


EXPLAINED: tuple[Explained, ...] = (
    Explained(
        "NumPy has no complex numbers of halves, so that the engine computes with complex64",
        lambda difference, _: (
            str(difference.expected) == "complex32"
            or any(each in difference.note for each in ("ComplexHalf", "scalar type: Half"))
        ),
    ),
    Explained(
        "PyTorch fails an assertion of its own",
        lambda difference, _: "INTERNAL ASSERT FAILED" in difference.note,
    ),
    Explained(
        "the strides of what is computed, and no view, follow the order of the loops",
        lambda difference, _: difference.what == "stride",
        goes_on=True,
    ),
    Explained(
        "the engine writes some operations with others, whose node shows",
        lambda difference, program: (
            _is_of_names(difference, program)
            or (difference.what == "events" and bool(_ASKS_FOR_NODES.search(difference.statement)))
        ),
        goes_on=True,
    ),
    Explained("what an operation saves is each library's own", _is_of_packing, goes_on=True),
    Explained(
        "whether a derivative is a view follows from the formula it is computed by",
        lambda difference, _: difference.derived and difference.what in ("_base", "storage_offset"),
        goes_on=True,
    ),
    Explained(
        "PyTorch copies the memory around a part too",
        lambda difference, program: (
            difference.what == "storage_offset"
            and any(each in _text(program) for each in ("_scatter(", "deepcopy("))
        ),
        goes_on=True,
    ),
    Explained(
        "the memory and the graph of a derivative follow from the formula it is computed by",
        lambda difference, _: (
            difference.derived
            and difference.what == "error"
            and bool(_OF_LAYOUT.search(difference.note) or _OF_GRAPH.search(difference.note))
        ),
    ),
    Explained(
        "the variance of one element has no derivative: PyTorch takes zero for its second",
        lambda difference, program: (
            ".var()" in _text(program) and difference.what.endswith("value")
        ),
    ),
    Explained(
        "PyTorch writes a part, or counts a change, before it raises",
        lambda difference, _: difference.raised and difference.what.endswith(("value", "version")),
    ),
    Explained(
        "a derivative that does not depend on its argument may still be recorded",
        lambda difference, program: (
            any(
                each in _text(program)
                for each in ("torch.func.", "autograd.functional.", "create_graph=True")
            )
            and (
                difference.what in ("requires_grad", "is_leaf")
                or (difference.derived and ".requires_grad" in difference.statement)
            )
        ),
    ),
    Explained(
        "PyTorch lets a tangent keep its dtype where the values are cast",
        lambda difference, _: difference.what == "tangent.dtype",
    ),
    Explained(
        "PyTorch traces what it linearizes, in which constants are parameters, and not all is seen",
        lambda difference, program: (
            "torch.func.linearize" in difference.statement
            and ("a leaf Variable" in difference.note or "inference_mode" in _text(program))
        ),
    ),
    Explained(
        "PyTorch lets integers require a gradient once a tensor that does was filled in",
        lambda difference, _: "Autograd not support dtype" in difference.note,
    ),
    Explained(
        "PyTorch shows no integers that require a gradient, nor an inference tensor of other data",
        lambda difference, _: difference.what == "looking" and difference.got is None,
    ),
    Explained(
        "the last bit of a value is each library's own",
        lambda difference, program: (
            difference.what.endswith("value") and ".view(torch.int" in _text(program)
        ),
    ),
    Explained(
        "PyTorch finds no batch of strides",
        lambda difference, _: (
            "as_strided is not supported unless the batch dims" in difference.note
        ),
    ),
    Explained(
        "elements that share memory are written in any order",
        lambda difference, program: (
            difference.what.endswith("value") and "as_strided" in _text(program)
        ),
    ),
)


OPEN: frozenset[int] = frozenset((
    15, 54, 130, 150, 159, 303, 340, 477, 523, 622, 637, 801, 939,
))  # fmt: skip
"""Seeds of programs that still differ, each by something rare that PyTorch does."""


def reason_of(difference: Difference, program: Program) -> Explained | None:
    """The reason of a difference, if it has one."""
    return next((each for each in EXPLAINED if each.holds(difference, program)), None)
