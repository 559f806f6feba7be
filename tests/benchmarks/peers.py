"""Other people's checkers on the same functions, each of which asks its own question."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterable
from typing import Any

import gradtool.engine as engine
from tests.benchmarks.pairs import Pair, timed
from tests.benchmarks.subjects import LARGE, Subject, arrays, exponential
from tests.benchmarks.table import Table, milliseconds, times

ABOUT = """`check_grads` in autograd and JAX checks derivatives that the library itself computes: in
reverse mode and to first order, it compares one random direction with one finite difference.
gradtool's `gradcheck` compares every entry of the Jacobian, and its `fast_mode` one random
direction. A library that is not installed is left out."""
COLUMNS = ("Function and inputs", "gradtool", "check_grads", "gradtool / check_grads")
CHECKED = (Subject("exp", exponential, ((6, 10),)), LARGE)


def tables() -> Iterable[Table]:
    """One, with the libraries that are installed."""
    pairs = [
        pair
        for library, check in (("autograd", _autograd), ("jax", _jax))
        if importlib.util.find_spec(library)
        for subject in CHECKED
        for pair in _pairs(library, check, subject)
    ]
    found = [timed(pair) for pair in pairs]
    rows = [(x.name, milliseconds(x.ours), milliseconds(x.theirs), times(x.ratio)) for x in found]
    if rows:
        yield Table("Other checkers", ABOUT, COLUMNS, rows)


def _pairs(
    library: str, check: Callable[[Subject], Callable[[], Any]], subject: Subject
) -> Iterable[Pair]:
    function = subject.make(engine)
    inputs = [engine.from_numpy(array).requires_grad_() for array in arrays(subject)]
    for words, options in (("every entry", {}), ("one direction", {"fast_mode": True})):
        yield Pair(
            f"{subject.words}, {words}; {library}: one direction",
            lambda options=options: engine.autograd.gradcheck(function, inputs, **options),  # type: ignore[misc]
            check(subject),
        )


def _of(library: Any, subject: Subject) -> Callable[..., Any]:
    """The subject written for a library with NumPy's names."""
    return library.exp if subject.make is exponential else lambda x, weight: x @ weight.T


def _autograd(subject: Subject) -> Callable[[], Any]:
    numpy: Any = importlib.import_module("autograd.numpy")
    check_grads: Any = importlib.import_module("autograd.test_util").check_grads
    run = check_grads(_of(numpy, subject), modes=["rev"], order=1)
    return lambda: run(*arrays(subject))


def _jax(subject: Subject) -> Callable[[], Any]:
    jax: Any = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    check_grads: Any = importlib.import_module("jax.test_util").check_grads
    function = _of(importlib.import_module("jax.numpy"), subject)
    return lambda: check_grads(function, arrays(subject), order=1, modes=["rev"])
