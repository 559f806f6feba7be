"""Certainty of arguments that were read: stated by the source, or only accepted by forward.

A right Function may accept arguments for which its backward is not meant, such as a filter of
another rank that broadcasts. What it computes wrong there shows nothing.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from collections.abc import Iterator
from typing import Any, TypeGuard

import numpy as np

from gradtool.adapters.common.parsed_source import forward_of, walked
from gradtool.cases.inference.calls.call_sites import module_source
from gradtool.cases.inference.candidates import Parameters
from gradtool.cases.inference.climbing import Step
from gradtool.cases.inference.clues import Clues
from gradtool.cases.inference.documentation import source
from gradtool.cases.inference.drafts import is_floating, shape_of
from gradtool.cases.inference.helpers import definition
from gradtool.cases.inference.reading import Reading
from gradtool.cases.inference.sparse import sparse_arguments
from gradtool.cases.inference.suggestions import suggested
from gradtool.cases.inference.uses import SAYS_SQUARE
from gradtool.config.schema import CaseConfig
from gradtool.config.tensor_spec import is_tensor

_STRUCTURE = re.compile(
    r"\b(symmetric|hermitian|positive[- ](semi-?)?definite|orthogonal|orthonormal|unitary"
    r"|matrix square root|covariance matri(x|ces))\b",
    re.IGNORECASE,
)
"""Matches a kind of matrix, or what is taken of one; no random matrix is of it."""

_OF_ONE_TRIANGLE = re.compile(r"\b(eigv?a?l?s?h|symeig|cholesky)\b")
"""Matches functions that take half of a matrix for the whole."""

_EIGENVECTORS = re.compile(r"\b(linalg|torch)\.eig\(")
"""Matches a function whose vectors are unique but for a factor each."""

_OF_ONE_RESULT = 2
"""Parameters of a backward that takes one gradient: ctx and that."""

_SUGGESTIONS = 20
"""Values of a parameter that its name and its uses suggest."""


def is_stated(reading: Reading, step: Step) -> bool:
    """Return True if every argument follows from a call or from what the source says of it."""
    if sparse_arguments([parameter.name for parameter in reading.parameters], {}):
        return False  # The matrix may have to be symmetric, or positive definite.
    only = sum(map(is_floating, step.draft)) == 1
    passed = step.site.values if step.site is not None else {}
    return all(
        parameter.name in passed or _follows(reading, parameter, value, only=only)
        for parameter, value in zip(reading.parameters, step.draft, strict=True)
    )


def is_unlike_documented(function: Any, case: CaseConfig) -> bool:
    """Return True if docstrings speak of structured matrices, and those of the case are random.

    Or if they speak of square ones, and those of the case are not.

    Where forward reads one triangle, gradients are compared along symmetric changes, so that the
    structure does not matter.
    """
    forward = getattr(function, "forward", None)
    text = "\n".join(each.__doc__ or "" for each in (function, forward))
    if SAYS_SQUARE.search(text) and any(map(_is_oblong, case.args)):
        return True
    if not any(map(_is_random_square, case.args)) or not _STRUCTURE.search(text):
        return False
    return not _OF_ONE_TRIANGLE.search(source(function))


def returns_eigenvectors(function: Any) -> bool:
    """Return True for a forward that computes eigenvectors, and a backward for several results.

    A gradient may be meant for what depends on no factor of theirs, as PyTorch's own is.
    """
    forward = definition(forward_of(function))[0]
    backward = definition(getattr(function, "backward", None))[1]
    if not _EIGENVECTORS.search(forward) or not isinstance(backward, ast.FunctionDef):
        return False
    return len(backward.args.args) > _OF_ONE_RESULT


def takes_padded(function: Any) -> bool:
    """Return True for a Function that is named for padded inputs, which its module says it assumes.

    Its gradient may be meant for the entries that are not padding.
    """
    return "Padded" in function.__name__ and bool(_PADDED.search(module_source(function)[1]))


_PADDED = re.compile(
    r"\b(assum|expect|requir)\w*\b[^.\n]{0,40}\bpadded\b|\bpadded already\b|\balready padded\b"
)
"""Matches a text about inputs that are padded before they come."""


def is_unpacked(parameters: Parameters, clues: Clues, case: CaseConfig) -> bool:
    """Return True for a tensor that forward unpacks, for which a tuple may be meant."""
    pairs = zip(parameters, case.args, strict=False)
    return any(is_floating(value) and each.name in clues.unpacked for each, value in pairs)


def is_only_kept(function: Any, parameters: Parameters, clues: Clues, case: CaseConfig) -> bool:
    """Return True for a tensor that forward keeps for backward, and that gets no gradient.

    It has to fit the others, as the softmax of logits that come beside it.
    """
    forward = definition(forward_of(function))[1]
    if forward is None:
        return False
    read = [each.id for each in walked(forward) if _is_read(each)]
    kept = [name for each in walked(forward) for name in _kept_for_backward(each)]
    return any(
        is_floating(value)
        and each.name in clues.undifferentiated
        and read.count(each.name) == kept.count(each.name) > 0
        for each, value in zip(parameters, case.args, strict=False)
    )


def _is_read(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def _kept_for_backward(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement keeps: ``ctx.save_for_backward(p)`` and ``ctx.p = p``."""
    match node:
        case ast.Call(func=ast.Attribute(attr="save_for_backward"), args=args):
            yield from (each.id for each in args if isinstance(each, ast.Name))
        case ast.Assign(targets=[ast.Attribute()], value=ast.Name(id=name)):
            yield name


def holds_tensors(case: CaseConfig) -> bool:
    """Return True for tensors in a list, which may be meant to be constants or to get gradients."""
    lists = (value for value in case.args if isinstance(value, list))
    return any(is_tensor(each) for value in lists for each in value)


def _is_oblong(value: Any) -> bool:
    extents = shape_of(value) if is_floating(value) else []
    return len(extents) > 1 and extents[-1] != extents[-2]


def _is_random_square(value: Any) -> bool:
    extents = shape_of(value) if is_floating(value) and "values" not in value else []
    return len(extents) > 1 and extents[-1] == extents[-2]


def _follows(reading: Reading, parameter: inspect.Parameter, value: Any, *, only: bool) -> bool:
    name, use = parameter.name, reading.uses[parameter.name]
    if is_tensor(value):
        if (use.is_sorted or use.places) and "values" not in value:
            return False  # Places may repeat among drawn ones: what is lost has no gradient.
        if use.matrix not in (None, "square") and value.get("requires_grad") is not False:
            return False  # The matrix is none of those for which the gradient is meant.
        if use.matrix is None and _is_constrained(value):
            return False  # Nor does a gradient by its entries have to hold beside the constraint.
        if not is_floating(value):
            return use.is_index or use.is_mask or use.is_cast or name in reading.shapes.shapes
        known = reading.shapes.shapes.get(name)
        is_known = known is not None and name not in reading.shapes.weak
        return only or (is_known and len(known or ()) == len(shape_of(value)))
    if isinstance(value, dict | list) and not _is_own(value):
        return False
    return value in itertools.islice(suggested(reading, parameter), _SUGGESTIONS)


def _is_constrained(value: Any) -> bool:
    """Return True for entries that ask for a gradient, but may not change freely.

    Those of ascending numbers may change a little.
    """
    if "values" not in value or not is_floating(value) or value.get("requires_grad") is False:
        return False
    return not np.all(np.diff(np.atleast_1d(value["values"])) > 0)


def _is_own(value: Any) -> bool:
    """Return True for a literal, or a list of plain numbers; False for a stand-in.

    An empty dict stands for the options of a layer, which are seldom all left out.
    """
    if isinstance(value, list):
        return all(isinstance(each, int | float) for each in value)
    held = value.get("literal")
    is_empty = isinstance(held, dict) and not held
    return not is_empty and not type(held).__module__.startswith(("gradtool.cases", "types"))
