"""Advice on how to give a Function a case where none was found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradtool.cases.inference.search import SearchResult
from gradtool.cases.written import is_serializable, one_line_snippet
from gradtool.collect.checkable import Checkable
from gradtool.config.schema import CaseConfig


def how_to_give_a_case(checkable: Checkable, search: SearchResult) -> str | None:
    """Say what to add, given the likeliest arguments, which forward refused.

    Returns None if there are no such arguments.
    """
    likeliest = search.likeliest
    if likeliest is None:
        return None
    if search.objects and checkable.is_function:
        return _skeleton(checkable, likeliest, search.objects)
    if is_serializable(likeliest):
        return (
            "add a case in gradtool.yaml, starting from this one, which forward rejects: "
            f"{one_line_snippet(checkable.name, likeliest)}"
        )
    return (
        "add a static method sample_inputs, which can create objects as arguments, or record "
        "cases with gradtool record"
    )


def _skeleton(checkable: Checkable, likeliest: CaseConfig, objects: Mapping[str, str]) -> str:
    names = [parameter.name for parameter in checkable.parameters()]
    given = zip(names, likeliest.args, strict=False)
    values = [name if name in objects else _in_code(value) for name, value in given]
    wanted = " and ".join(f"`{name}`, {kind}," for name, kind in objects.items())
    return (
        f"create {wanted} in a static method of {checkable.name}: "
        f"def sample_inputs(): yield {', '.join(values)}{',' * (len(values) == 1)}"
    )


def _in_code(value: Any) -> str:
    """The expression of an argument; a tensor is drawn by its shape."""
    if not isinstance(value, dict) or "shape" not in value:
        return repr(value)
    shape = ", ".join(map(str, value["shape"])) or "()"
    dtype = value.get("dtype", "float64")
    if dtype.startswith(("float", "complex")):
        return f"torch.randn({shape}, dtype=torch.{dtype}, requires_grad=True)"
    return f"torch.zeros({shape}, dtype=torch.{dtype})"
