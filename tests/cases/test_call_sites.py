"""The module of a Function, read for what its code passes to the Function."""

from __future__ import annotations

from typing import Any

import gradtool.engine as torch
from gradtool import Function
from gradtool.cases.inference.calls.call_sites import call_sites, module_source


class One(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2


class Other(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 3


class Fast(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, scale: Any, as_counts: bool) -> Any:
        return x * scale if as_counts else x


class Bounded(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, highest: Any) -> Any:
        return x if highest is None else x.clamp_max(highest)


class Layer:
    def __init__(self, *, wide: bool = False, as_counts: bool = True) -> None:
        self.op = Other if wide else Fast
        self.scale = torch.ones(3)
        self.as_counts = as_counts

    def __call__(self, x: Any) -> Any:
        return self.op.apply(x, self.scale, self.as_counts)

    def within(self, x: Any) -> Any:
        return Bounded.apply(x, getattr(self, "highest", None))


class Fragile:
    def __init__(self, start: Any, steps: int = 5, dims: Any = None) -> None:
        if not isinstance(start, dict):
            raise TypeError(start)
        self.op = Fast
        self.scale = start["scale"]
        self.steps = steps
        self.dims = dims if dims is not None else [-2, -1]
        self.weight = torch.ones(3)

    def __call__(self, x: Any) -> Any:
        return Shown.apply(x, self.scale, self.steps, self.dims, self.weight)


class Shown(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, scale: Any, steps: int, dims: Any, weight: Any) -> Any:
        return x.sum(dims) * scale * steps * weight


def test_a_module_is_parsed_once_for_all_its_functions() -> None:
    tree, text = module_source(One)
    assert tree is not None
    assert "class Other" in text
    assert module_source(Other) == (tree, text)


def test_what_has_no_source_has_no_tree() -> None:
    assert module_source(len) == (None, "")


def test_a_layer_that_may_hold_another_function_shows_flags_but_no_tensors() -> None:
    tree, _ = module_source(Fast)
    assert tree is not None
    (site,) = call_sites(Fast, tree, ("x", "scale", "as_counts"))
    assert site.values == {"as_counts": True}


def test_an_attribute_that_an_object_may_lack_has_its_default() -> None:
    tree, _ = module_source(Bounded)
    assert tree is not None
    (site,) = call_sites(Bounded, tree, ("x", "highest"))
    assert site.values == {"highest": None}


def test_a_layer_that_cannot_be_made_shows_the_defaults_of_its_options() -> None:
    tree, _ = module_source(Shown)
    assert tree is not None
    (site,) = call_sites(Shown, tree, ("x", "scale", "steps", "dims", "weight"))
    assert site.values == {"steps": 5, "dims": [-2, -1]}
