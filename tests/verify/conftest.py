"""A Differentiable over plain NumPy functions, so that the checker is tested by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from gradtool.verify.oracle.classification import classify
from gradtool.verify.oracle.difference_quotients import coordinate_line
from gradtool.verify.oracle.estimate import Status
from gradtool.verify.oracle.noise import measure
from gradtool.verify.oracle.sampler import Sampler
from gradtool.verify.oracle.step_ladder import sample_ladders
from gradtool.verify.oracle.steps import epsilon, scales
from gradtool.verify.protocol.coordinates import Coordinates
from gradtool.verify.protocol.observation import Argument, Failure, Gradient, Observation, Stacked


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


@dataclass
class NumpyFunction:
    """A forward and a hand-written vjp.

    `forward(*primals)` returns an array or a tuple; `vjp(primals, cotangents)` a gradient or
    None for each primal. `second` is the vjp of the map (primals, cotangents) -> gradients.
    `observed` overrides fields of every Observation; `disturbed` those of calls between whose
    forward and backward something is changed.
    """

    forward: Callable[..., Any]
    vjp: Callable[..., Any]
    primals: Sequence[Any]
    second: Callable[..., Any] | None = None
    names: Sequence[str] = ()
    observed: dict[str, Any] = field(default_factory=dict)
    second_observed: dict[str, Any] = field(default_factory=dict)
    name: str = "Fake"
    differentiable: Sequence[bool] | None = None
    declares_once_differentiable: bool = False
    defines_both_backward_and_vjp: bool = False
    defines_jvp: bool = False
    defines_vmap: bool = False
    generates_vmap: bool = False
    lines: frozenset[Any] = frozenset()
    sparse: Sequence[int] = ()
    leak: str | None = None
    disturbed: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.primals = tuple(np.asarray(primal) for primal in self.primals)
        self.calls = {"forward": 0, "backward": 0}

    @property
    def arguments(self) -> tuple[Argument, ...]:
        names = self.names or [f"x{i}" if i else "x" for i in range(len(self.primals))]
        wanted = self.differentiable or [True] * len(self.primals)
        return tuple(
            Argument(name, i, primal.shape, primal.dtype, flag and primal.dtype.kind in "fc")
            for i, (name, primal, flag) in enumerate(zip(names, self.primals, wanted, strict=True))
        )

    def evaluate(self, primals):
        self.calls["forward"] += 1
        with np.errstate(all="ignore"):
            outputs = _tuple(self.forward(*(np.array(p) for p in primals)))
        return tuple(None if o is None else np.asarray(o) for o in outputs)

    def call(self, primals, cotangents=None, **options):
        try:
            outputs = self.evaluate(primals)
        except Exception as error:
            seen = Observation(failure=_raised("forward", error))
            if callable(cotangents):
                cotangents(seen)
            return seen
        flags = tuple(o is not None and o.dtype.kind in "fc" for o in outputs)
        seen = Observation(outputs=outputs, output_requires_grad=flags)
        if callable(cotangents):
            cotangents = cotangents(replace(seen, **self.observed))
        if cotangents is not None:
            try:
                gradients = self._vjp(primals, self._defined(outputs, cotangents))
                raw = tuple(Gradient(g, None if g is None else g.dtype) for g in gradients)
                seen = replace(seen, gradients=gradients, raw=raw)
            except Exception as error:
                seen = replace(seen, failure=_raised("backward", error))
        return replace(seen, **self.observed)

    def call_with_input_changed_between(self, primals, cotangents, argument):
        return replace(self.call(primals, cotangents), **self.disturbed)

    call_with_output_changed_between = call_with_input_changed_between

    def call_again_after_change(self, primals, cotangents):
        return primals, self.call(primals, cotangents)

    draws_random_numbers = False
    docstrings = ""
    takes_functions = False

    def recorded(self):
        return None  # what is made of NumPy functions has no steps

    def with_defaults(self):
        return None

    def siblings(self):
        return [self]

    def interleaved(self, primals, cotangents, others=()):
        return [self.call(*each) for each in zip(primals, cotangents, strict=True)]

    def lost_gradients(self, primals):
        return None

    def first_nan(self, primals, cotangents):
        return None

    def leaks(self, primals):
        self.evaluate(primals)
        return self.leak

    def seeded(self, seed):
        return nullcontext()

    def objects_restored(self):
        return nullcontext()

    def evaluate_many(self, primals, stacked, *, or_loop=True):
        self.calls["forward"] += 1
        return Stacked((), batched=False, reason="plain NumPy")

    def vjps_many(self, primals, cotangents, *, or_loop=True):
        self.calls["forward"] += 1
        self.calls["backward"] += 1
        return Stacked((), batched=False, reason="plain NumPy")

    def vjps(self, primals, rows):
        return self.valued_vjps(primals, rows)[1]

    def valued_vjps(self, primals, rows):
        outputs = self.evaluate(primals)
        return outputs, [self._vjp(primals, self._defined(outputs, row)) for row in rows]

    def _defined(self, outputs, row):
        return tuple(
            np.zeros_like(o) if c is None and o is not None else c
            for o, c in zip(outputs, row, strict=True)
        )

    def _vjp(self, primals, cotangents):
        self.calls["backward"] += 1
        with np.errstate(all="ignore"):
            gradients = _tuple(self.vjp(tuple(np.array(p) for p in primals), cotangents))
        return tuple(
            None if g is None else np.asarray(g, dtype=p.dtype)
            for g, p in zip(gradients, map(np.asarray, primals), strict=True)
        )

    def backward_map(self, cotangents):
        count = len(self.primals)
        given = [c for c in cotangents if c is not None]

        def gradients(*primals):
            return tuple(self._vjp(primals[:count], tuple(primals[count:])))

        return NumpyFunction(
            forward=gradients,
            vjp=self.second or (lambda primals, cotangents: (None,) * len(primals)),
            primals=(*self.primals, *given),
            names=(
                *(a.name for a in self.arguments),
                *(f"grad_output[{i}]" for i in range(len(given))),
            ),
            observed=self.second_observed,
        )


def _raised(stage: str, error: Exception) -> Failure:
    return Failure(stage, "raised", f"{type(error).__name__}: {error}")


@pytest.fixture(scope="session")
def function():
    """The class of fake Functions."""
    return NumpyFunction


def _scalar_estimate(f: Callable[[Any], Any], x: float, dtype: Any, scale: float | None) -> Any:
    primal = np.array([x], dtype=dtype)

    def evaluate(primals):
        return (np.array([f(primals[0][0])]),)

    with np.errstate(all="ignore"):
        layout = Coordinates(evaluate([primal]))
        sampler = Sampler(evaluate, [primal], layout)
        eps = np.array([epsilon(layout.blocks[0].dtype)])
        noise = measure(sampler, eps, np.random.default_rng(3))
        line = coordinate_line(sampler, 0, 0, float(scales(primal)[0]) if scale is None else scale)
        estimate = classify(*sample_ladders([line], noise, [np.array([True])], [np.array([False])]))
    return Point(
        Status(int(estimate.status[0, 0])),
        float(estimate.value[0, 0]),
        float(estimate.error[0, 0]),
        float(estimate.left[0, 0]),
        float(estimate.right[0, 0]),
        float(noise.floor[0]),
    )


@dataclass(frozen=True)
class Point:
    """What the ladder says of a scalar function at one point."""

    status: Status
    value: float
    error: float
    left: float
    right: float
    noise: float


@pytest.fixture(scope="session")
def derivative() -> Callable[..., Point]:
    """The oracle's answer for a scalar function of one number, without the cheap pass."""

    def at(f: Callable[[Any], Any], x: float, *, dtype: Any = np.float64, scale=None) -> Point:
        return _scalar_estimate(f, x, dtype, scale)

    return at
