"""Closed forms: parts of a forward whose derivative is shorter than that of their steps."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from gradtool.derive.expression import Expression
from gradtool.derive.normal import normal_density
from gradtool.derive.rules.registry import Pulled
from gradtool.derive.shapes import full


def closed_form(g: Any, out: Expression) -> Iterable[Pulled] | None:
    """Return the operands at which a closed form ends, and their cotangents; None if none fits."""
    if isinstance(g, dict):
        return None
    for form in (_gaussian, _softmax, _log_softmax, _normalized):
        found = form(g, out)
        if found is not None:
            return found
    return None


def _is(value: Any, *names: str) -> bool:
    return isinstance(value, Expression) and value.name in names


def _reduced(value: Any, name: str) -> tuple[Expression, Any] | None:
    """The operand and the dimensions of a reduction that keeps them."""
    if not _is(value, name):
        return None
    given = dict(zip(("dim", "keepdim"), value.args[1:], strict=False)) | value.kwargs
    if given.get("keepdim") is not True or "dim" not in given:
        return None
    return value.args[0], given["dim"]


def _shifted(z: Expression) -> Expression:
    """Return what the largest entry was subtracted from, which changes no derivative here."""
    if _is(z, "sub") and isinstance(z.args[1], Expression):
        largest = z.args[1]
        if _is(largest, "part") and largest.args[1] == 0:
            largest = largest.args[0]
        if _is(largest, "amax", "max") and largest.args[0] is z.args[0]:
            found: Expression = z.args[0]
            return found
    return z


def _softmax(g: Expression, out: Expression) -> Iterable[Pulled] | None:
    """``e / e.sum(dim, keepdim=True)`` of an exponential."""
    if not _is(out, "div") or not _is(out.args[0], "exp"):
        return None
    total = _reduced(out.args[1], "sum")
    if total is None or total[0] is not out.args[0]:
        return None
    g = full(g, out)
    return [(_shifted(out.args[0].args[0]), out * (g - (g * out).sum(total[1], keepdim=True)))]


def _log_softmax(g: Expression, out: Expression) -> Iterable[Pulled] | None:
    """``z - z.exp().sum(dim, keepdim=True).log()``, or with ``logsumexp``."""
    if not _is(out, "sub") or not isinstance(out.args[1], Expression):
        return None
    z, norm = out.args
    total = _reduced(norm, "logsumexp")
    if total is None and _is(norm, "log"):
        total = _reduced(norm.args[0], "sum")
        total = (total[0].args[0], total[1]) if total and _is(total[0], "exp") else None
    if total is None or total[0] is not z:
        return None
    g = full(g, out)
    return [(_shifted(z), g - out.exp() * g.sum(total[1], keepdim=True))]


def _normalized(g: Expression, out: Expression) -> Iterable[Pulled] | None:
    """``(x - x.mean(dim)) * rstd``, the deviation of the same entries."""
    if _is(out, "mul") and all(isinstance(each, Expression) for each in out.args):
        centred, scale = out.args if _is(out.args[0], "sub") else out.args[::-1]
        spread = _inside(scale, "rsqrt")
    elif _is(out, "div") and all(isinstance(each, Expression) for each in out.args):
        centred, scale = out.args
        spread = _inside(scale, "sqrt")
    else:
        return None
    if not _is(centred, "sub") or spread is None:
        return None
    x = centred.args[0]
    mean = _reduced(centred.args[1], "mean")
    if mean is None or mean[0] is not x or not _is_variance(spread, x, centred, mean[1]):
        return None
    g, dim = full(g, out), mean[1]
    inner = g - g.mean(dim, keepdim=True) - out * (g * out).mean(dim, keepdim=True)
    return [(x, scale * inner if out.name == "mul" else inner / scale)]


def _gaussian(g: Expression, out: Expression) -> Iterable[Pulled] | None:
    """``erf(x / sqrt(2))``, whose derivative is twice the normal density."""
    if not _is(out, "erf") or not _is(out.args[0], "div", "mul"):
        return None
    x, scale = out.args[0].args
    by = scale.value if isinstance(scale, Expression) else scale
    width = math.sqrt(2) if out.args[0].name == "div" else math.sqrt(0.5)
    if not isinstance(by, float) or not math.isclose(by, width, rel_tol=1e-15):
        return None
    return [(x, g * (2 * normal_density(x)))]


def _inside(value: Any, name: str) -> Expression | None:
    """Return what ``rsqrt`` or ``sqrt`` was taken of, less a constant that was added."""
    if (_is(value, "pow") and value.args[1] == {"rsqrt": -0.5, "sqrt": 0.5}[name]) or _is(
        value, name
    ):
        inner = value.args[0]
    else:
        return None
    if _is(inner, "add"):
        inner = (
            inner.args[0]
            if isinstance(inner.args[0], Expression) and inner.args[0].ndim
            else inner.args[1]
        )
    return inner if isinstance(inner, Expression) else None


def _is_variance(spread: Expression, x: Expression, centred: Expression, dim: Any) -> bool:
    if _is(spread, "var") and spread.args[0] is x:
        given = (
            dict(zip(("dim", "unbiased", "keepdim"), spread.args[1:], strict=False)) | spread.kwargs
        )
        is_plain = given.get("unbiased") is False or given.get("correction") == 0
        return given.get("dim") == dim and given.get("keepdim") is True and is_plain
    mean = _reduced(spread, "mean")
    if mean is None or mean[1] != dim:
        return False
    square = mean[0]
    if _is(square, "mul"):
        return all(each is centred for each in square.args)
    return (_is(square, "square") and square.args[0] is centred) or (
        _is(square, "pow") and square.args == (centred, 2)
    )
