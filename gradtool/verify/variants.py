"""The case in another dtype: in the other real precision, or complex.

A variant is tried only where forward accepts it, returns that dtype and computes the same as in the
case. Its gradient is compared with the gradient of the case, at the same numbers.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec.structs import replace

from gradtool.results.report import Severity
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.comparison.derivatives import Derivatives
from gradtool.verify.oracle.steps import epsilon
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Array, Observation
from gradtool.verify.randomness import generator, signed
from gradtool.verify.rules._rule import Flaw
from gradtool.verify.thresholds.rules import (
    DTYPE_GRADIENT_DIFFERENCE,
    DTYPE_GRADIENT_ROUNDINGS,
    DTYPE_LOST_ROUNDINGS,
    DTYPE_OUTPUT_DIFFERENCE,
    ERRATIC_FADED,
    ERRATIC_GONE,
    ERRATIC_SEVERAL,
    ERRATIC_SHIFTS,
    IMAGINARY_PART,
)
from gradtool.verify.wording import listed

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

_OTHER = {"f8": "f4", "c16": "c8", "f4": "f8", "c8": "c16"}
_COMPLEX = {"f8": np.complex128, "f4": np.complex64}


_SAYS_COMPLEX = re.compile(r"\breal (or|and) complex\b|\bcomplex (or|and) real\b", re.IGNORECASE)

_MENTIONS_COMPLEX = re.compile(r"\b(conj\w*|is_complex|complex\w*|view_as_real|imag)\b")


class Variant(msgspec.Struct, frozen=True):
    """The case's point in another real precision.

    `own` and `own_cotangents` are the same numbers in the case's own dtypes. `seen` is the call
    there.
    """

    dtype: str
    primals: list[Array]
    cotangents: list[Array | None]
    own: list[Array]
    own_cotangents: list[Array | None]
    seen: Observation


def other_precision(subject: Subject) -> Variant | None:
    """The case in float32, or in float64 where all of it is float32; None where it is refused."""
    primals = subject.first.primals
    kinds = {_kind(p.dtype) for p in primals if is_continuous(p.dtype)}
    # Of mixed precisions no other one is the case's counterpart.
    if not kinds <= _OTHER.keys() or ({"f8", "c16"} & kinds and {"f4", "c8"} & kinds):
        return None
    point = [_cast(p, _kind(p.dtype)) for p in primals]
    sent = subject.first.cotangents
    cotangents = [None if c is None else _cast(c, _kind(c.dtype)) for c in sent]
    seen = _called(subject, point, cotangents)
    if seen is None or not _same(seen.outputs, subject.first.forward.outputs):
        return None
    names = {str(p.dtype) for p in point if is_continuous(p.dtype)}
    return Variant(
        dtype=listed(sorted(names)),
        primals=point,
        cotangents=cotangents,
        own=[p.astype(o.dtype) for p, o in zip(point, primals, strict=True)],
        own_cotangents=list(sent),
        seen=seen,
    )


def _called(
    subject: Subject, point: Sequence[Array], cotangents: Sequence[Array | None]
) -> Observation | None:
    """A call with backward where forward accepts the point and computes the same."""

    def choose(forward: Observation) -> Sequence[Array | None] | None:
        accepts = forward.failure is None
        return cotangents if accepts and _same(forward.outputs, own.outputs) else None

    own = subject.first.forward
    with np.errstate(all="ignore"):
        try:
            with subject.first.timeout.limited(2):
                return subject.function.call(point, choose)
        except Exception:  # It may never end.
            return None


def _kind(dtype: np.dtype[Any]) -> str:
    return f"{dtype.kind}{dtype.itemsize}"


def _cast(array: Array, kind: str) -> Array:
    with np.errstate(over="ignore"):  # Infinity is what the narrower dtype makes of it.
        return array.astype(_OTHER[kind]) if kind in _OTHER else array


def _evaluated(subject: Subject, point: Sequence[Array]) -> Sequence[Array | None] | None:
    with np.errstate(all="ignore"):
        try:
            with subject.first.timeout.limited():
                outputs = subject.function.evaluate(point)
            return [None if o is None else np.array(o) for o in outputs]
        except Exception:  # It may refuse another dtype as it likes, or never end.
            return None


def _same(found: Sequence[Array | None], own: Sequence[Array | None]) -> bool:
    """Return True if the outputs have the other dtype and nearly the same values."""
    return len(found) == len(own) and all(
        (a is None and b is None) or (a is not None and b is not None and _alike(a, b))
        for a, b in zip(found, own, strict=True)
    )


def _alike(found: Array, own: Array) -> bool:
    if found.shape != own.shape or not is_continuous(own.dtype):
        return found.shape == own.shape and bool((found == own).all())
    size = np.abs(own[np.isfinite(own)]).max(initial=0.0)
    close = np.allclose(found, own, rtol=0.0, atol=DTYPE_OUTPUT_DIFFERENCE * size)
    return _kind(found.dtype) == _OTHER.get(_kind(own.dtype)) and bool(close)


def wrong_gradient(
    subject: Subject, variant: Variant, seen: Observation, when: str, hint: str
) -> Flaw | None:
    """Return a flaw for the first gradient that differs from the case's own."""
    own = subject.function.call(variant.own, variant.own_cotangents)
    for argument, found, expected in zip(
        subject.function.arguments, seen.gradients or (), own.gradients or (), strict=False
    ):
        if found is None or expected is None or found.shape != expected.shape:
            continue
        place = subject.function.arguments.index(argument)
        with np.errstate(all="ignore"):  # Both may be infinite.
            off = found - expected
            most = np.abs(off).max(initial=0.0)
        if np.isfinite(most) and most > _allowed(variant, own, expected, variant.primals[place]):
            share = most / np.abs(expected).max(initial=0.0) if expected.any() else np.inf
            flaw = Flaw(
                message=f"gradient of `{argument.name}` differs {when}, by {share:.2g} times its "
                "size",
                hint=hint,
            )
            if not _is_erratic(subject, variant, place, off):
                return flaw
            if not _loses_digits(subject, variant):
                note = f"{flaw.message}: backward subtracts nearly equal numbers and loses digits"
                return replace(flaw, message=note, severity=Severity.NOTE)
    return None


def _loses_digits(subject: Subject, variant: Variant) -> bool:
    """Return True if some entry of an output has far fewer digits in single precision."""
    coarse, fine = (_evaluated(subject, point) for point in (variant.primals, variant.own))
    for one, other in zip(coarse or (), fine or (), strict=True):
        if one is not None and other is not None and is_continuous(one.dtype):
            eps = max(epsilon(one.dtype), epsilon(other.dtype))
            with np.errstate(all="ignore"):
                lost = np.abs(one - other) > DTYPE_LOST_ROUNDINGS * eps * np.abs(other)
            if lost.any():
                return True
    return False


def _is_erratic(subject: Subject, variant: Variant, place: int, off: Array) -> bool:
    """Return True if a difference varies from point to point, as roundings do.

    Where large numbers nearly cancel, single precision is lost for a right formula too.
    """
    worst = np.unravel_index(int(np.argmax(np.abs(off))), off.shape)
    rng = generator(subject.seed, "erratic")
    shares = []
    for part in (0.0, *ERRATIC_SHIFTS):
        point = [_moved(primal, part, rng) for primal in variant.primals]
        twin = [p.astype(o.dtype) for p, o in zip(point, variant.own, strict=True)]
        found = _gradient(subject, point, variant.cotangents, place)
        expected = _gradient(subject, twin, variant.own_cotangents, place)
        if found is not None and expected is not None and expected.any():
            shares.append((found[worst] - expected[worst]) / np.abs(expected).max())
    others = [share / shares[0] for share in shares[1:] if shares[0]]
    left = [float(np.real(other)) for other in others if abs(other) > ERRATIC_GONE]
    return sum(other < ERRATIC_FADED for other in left) >= ERRATIC_SEVERAL


def _gradient(
    subject: Subject, point: Sequence[Array], cotangents: Sequence[Array | None], place: int
) -> Array | None:
    gradients = subject.function.call(point, cotangents).gradients
    return gradients[place] if gradients else None


def _moved(primal: Array, part: float, rng: np.random.Generator) -> Array:
    """The primal, each entry moved by about that part of itself."""
    if not is_continuous(primal.dtype):
        return primal
    return np.asarray(primal * (1 + part * signed(rng, primal.shape))).astype(primal.dtype)


def _allowed(variant: Variant, own: Observation, expected: Array, primal: Array) -> float:
    """Return the change that rounding to the coarser of the two dtypes may cause."""
    eps = max(epsilon(primal.dtype), epsilon(expected.dtype))
    with np.errstate(all="ignore"):
        sizes = [
            float(np.abs(output * cotangent).sum())
            for output, cotangent in zip(own.outputs, variant.own_cotangents, strict=True)
            if output is not None and cotangent is not None
        ]
    length = float(np.abs(primal).max(initial=0.0)) or 1.0
    return (
        DTYPE_GRADIENT_DIFFERENCE * float(np.abs(expected).max(initial=0.0))
        + DTYPE_GRADIENT_ROUNDINGS * eps * sum(sizes) / length
    )


def lost_digits(subject: Subject, seen: Observation, when: str) -> Iterator[Flaw]:
    """Notes on gradients that come back in another precision than that of their input."""
    for argument in subject.function.arguments:
        raw = (seen.raw or ())[argument.position : argument.position + 1]
        gradient = raw[0] if raw and argument.differentiable else None
        found = gradient.dtype if gradient else None
        if found is not None and _kind(found) in _OTHER and _kind(found) == _kind(argument.dtype):
            yield Flaw(
                message=f"gradient of `{argument.name}` is also {found} {when}: autograd casts it",
                hint="create tensors with zeros_like or new_zeros",
                severity=Severity.NOTE,
            )


def wrong_when_complex(subject: Subject) -> Iterator[Flaw]:
    """Notes on inputs whose gradient is wrong when they are complex, if the code speaks of that.

    Not on matrices of which forward reads one triangle: a complex one would have to be Hermitian,
    and its eigenvectors have a phase that nothing determines.
    """
    primals = subject.first.primals
    if not _mentions_complex(subject) or any(p.dtype.kind == "c" for p in primals):
        return
    flat = [_complex(p, None) for p in primals]
    outputs = _evaluated(subject, flat)
    own = subject.first.forward.outputs
    if outputs is None or not all(_extends(a, b) for a, b in zip(outputs, own, strict=False)):
        return
    rng = generator(subject.seed, "imaginary parts")
    at = Derivatives(subject.function, [_complex(p, rng) for p in primals], seed=subject.seed)
    symmetric = {
        each.argument
        for each in subject.given.comparisons
        if each.layout.directions[each.argument] is not None
    }
    for argument in at.inputs if at.failure is None else ():
        if argument in subject.surrogates or argument in symmetric:
            continue
        if (at.comparison(argument).decision == Decision.FAIL).any():
            yield Flaw(
                message=f"gradient of `{subject.function.arguments[argument].name}` is wrong for"
                " complex inputs, which forward accepts",
                hint="use .conj(), or reject complex inputs in forward",
                severity=None if _documents_complex(subject) else Severity.NOTE,
            )


def _mentions_complex(subject: Subject) -> bool:
    lines = subject.function.lines
    is_used = any(
        _MENTIONS_COMPLEX.search(linecache.getline(each.path, each.line)) for each in lines
    )
    return is_used or _documents_complex(subject)


def _documents_complex(subject: Subject) -> bool:
    """Return True if a docstring of the Function or its module says that inputs may be complex."""
    lines: dict[str, set[int]] = {}
    for each in subject.function.lines:
        lines.setdefault(each.path, set()).add(each.line)
    return any(
        _SAYS_COMPLEX.search(text) for path in lines for text in _docstrings(path, lines[path])
    )


def _docstrings(path: str, lines: set[int]) -> Iterator[str]:
    """The docstrings of a module, and of what it defines around some lines."""
    source = "".join(linecache.getlines(path))
    # Most modules do not say it anywhere, and need not be parsed.
    for text, span in _all_docstrings(source) if _SAYS_COMPLEX.search(source) else ():
        if span is None or not lines.isdisjoint(span):
            yield text


@lru_cache(maxsize=8)
def _all_docstrings(source: str) -> list[tuple[str, range | None]]:
    """The docstrings of a module, each with the lines of what it is about; None for all."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    inner = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef | ast.FunctionDef)]
    return [
        (ast.get_docstring(tree) or "", None),
        *(
            (text, range(node.lineno, (node.end_lineno or 0) + 1))
            for node in inner
            if (text := ast.get_docstring(node))
        ),
    ]


def _complex(primal: Array, rng: np.random.Generator | None) -> Array:
    dtype = _COMPLEX.get(_kind(primal.dtype))
    if dtype is None:
        return primal
    wide: Array = primal.astype(dtype)
    if rng is not None:
        size = np.abs(primal).max(initial=0.0) or 1.0
        wide.imag = IMAGINARY_PART * size * signed(rng, primal.shape)
    return wide


def _extends(found: Array | None, own: Array | None) -> bool:
    """Return True if the output of complex inputs on the real axis is the real one."""
    if found is None or own is None:
        return found is own
    return found.shape == own.shape and bool(
        np.allclose(found, own, rtol=DTYPE_OUTPUT_DIFFERENCE, atol=0.0)
    )
