"""Variants with a tensor of one entry in the place of a number, where forward takes either."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from msgspec import structs

from gradtool.explore.point import Point, Variant
from gradtool.explore.reading.wording import wording
from gradtool.explore.variants.less_special import with_gradient


def tensor_numbers(
    function: Any, point: Point, parameters: Sequence[inspect.Parameter]
) -> Iterator[Variant]:
    """Yield variants in which a number is a tensor with a gradient, if it may be one.

    An annotation or a docstring says so.

    Args:
        function: The Function.
        point: The arguments of the case, with all defaults.
        parameters: Those of ``forward``.
    """
    said = wording(function)
    either = {p.name for p in parameters if _is_either(p) or said.may_be_tensor(p.name)}
    for at in point.plain:
        name, value = point.names[at], point.values[at]
        if type(value) is float and name in either:
            given = point.having({at: np.array(value)})
            given = structs.replace(given, tensors=tuple(sorted({*point.tensors, at})))
            variant = with_gradient(function, given, at)
            if said.may_be_tensor(name) and not said.is_constant(name):
                variant = structs.replace(variant, may_lack=None, is_learned=at)
            yield structs.replace(variant, change=f"`{name}` is a tensor with a gradient")


def _is_either(parameter: inspect.Parameter) -> bool:
    annotation = str(parameter.annotation)
    return "Tensor" in annotation and bool(re.search(r"\bfloat\b", annotation))
