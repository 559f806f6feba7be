"""No Function of a source is lost: each has an entry, with its class or the reason why not."""

from __future__ import annotations

import gc
import textwrap
from pathlib import Path
from typing import Any

import pytest

from gradtool.collect import inventory
from gradtool.collect.declared import declared_functions
from gradtool.collect.discovery import discover
from gradtool.collect.loader import LoadedModule, Loader, parse
from gradtool.collect.unchecked import Purpose

SOURCE = """
    import torch, types
    from torch import autograd as ag
    from torch.autograd import Function as F, function

    Base = torch.autograd.Function

    class Plain(F):
        METHODS

    class _Private(Base):
        METHODS

    class Second(Plain):
        pass

    class OldName(ag.function.InplaceFunction):
        METHODS

    class Holder(torch.nn.Module):
        class Inner(F):
            METHODS

        def forward(self, x):
            class InMethod(F):
                METHODS
            return InMethod.apply(x)

        @staticmethod
        def made():
            class ByMethod(F):
                METHODS
            return ByMethod

    def make():
        class Local(F):
            METHODS
        def use(x):
            return Local.apply(x)
        return use

    def make_with(factor, power: int):
        class Scaled(F):
            METHODS
        return Scaled.apply

    def make_typed(slope: float):
        class Typed(F):
            METHODS
        return Typed

    def make_unknown(what):
        class Unknown(F):
            METHODS
        return Unknown

    def never(x):
        from torch.autograd import Function
        class Unreached(Function):
            METHODS
            scale = x
        return Unreached.apply(x)

    def shadowing(len, x):
        class Shadowing(F):
            METHODS
        return Shadowing.apply(x)

    def train(x):
        return make_with(2.0, power=3)(x)

    ByType = type("ByType", (F,), {"forward": len, "backward": len})
    TABLE = {"one": make_unknown(1), "two": make_unknown(2)}

    if torch.cuda.is_available():
        class Cuda(F):
            METHODS

    class Unrelated(dict):
        METHODS
""".replace("METHODS", "forward = staticmethod(len); backward = staticmethod(len)")


@pytest.fixture
def loaded(tmp_path: Path) -> LoadedModule:
    path = tmp_path / "ops.py"
    path.write_text(textwrap.dedent(SOURCE), encoding="utf-8")
    return Loader().load(path)


def test_every_declared_function_is_listed(loaded: LoadedModule) -> None:
    listed = {checkable.name: checkable for checkable in discover(loaded, "ops.py")}
    declared = {each.name for each in declared_functions(parse(loaded.path))}
    assert declared <= set(listed)
    assert "Unrelated" not in listed
    unmade = {name for name, each in listed.items() if each.unchecked}
    assert unmade == {"never.Unreached", "shadowing.Shadowing", "Cuda"}


def test_what_a_factory_returns_is_made(loaded: LoadedModule) -> None:
    names = {checkable.name for checkable in discover(loaded, "ops.py") if checkable.obj}
    assert {"make.Local", "Holder.made.ByMethod", "make_with.Scaled", "make_typed.Typed"} <= names
    assert {"make_unknown.Unknown", "make_unknown.Unknown~2", "ByType", "Holder.Inner"} <= names


def test_what_a_factory_names_by_an_argument_is_listed_by_its_name_alone(tmp_path: Path) -> None:
    source = """
        from gradtool import Function

        def make(name):
            def forward(ctx, x):
                return x.clone()
            def backward(ctx, g):
                return g
            return type(name, (Function,), {"forward": forward, "backward": backward})

        Same = make("Same")
    """
    path = tmp_path / "ops.py"
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    assert [each.name for each in discover(Loader().load(path), "ops.py")] == ["Same"]


def test_garbage_is_collected_without_a_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = inventory.call_factory

    def followed_by_a_collection(*args: Any) -> Any:
        found = called(*args)
        gc.collect()
        return found

    monkeypatch.setattr(inventory, "call_factory", followed_by_a_collection)
    path = tmp_path / "ops.py"
    path.write_text(textwrap.dedent(SOURCE), encoding="utf-8")
    names = {each.name for each in discover(Loader().load(path), "ops.py") if each.obj}
    assert {"make.Local", "Holder.made.ByMethod", "make_with.Scaled", "make_typed.Typed"} <= names


def test_one_that_needs_nothing_of_the_functions_around_it_is_made(loaded: LoadedModule) -> None:
    (found,) = [each for each in discover(loaded, "ops.py") if each.name.endswith("InMethod")]
    assert found.obj.__qualname__ == "Holder.forward.<locals>.InMethod"
    assert found.obj.__module__ == "ops"
    assert found.location.line is not None


def test_a_function_is_never_called_that_returns_no_function(tmp_path: Path) -> None:
    source = """
        from gradtool import Function

        def main():
            scale = 2.0
            class Local(Function):
                forward = backward = staticmethod(lambda ctx, x: scale * x)
            raise SystemExit("it ran")
    """
    path = tmp_path / "ops.py"
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    (found,) = discover(Loader().load(path), "ops.py")
    assert found.unchecked is not None
    assert found.unchecked.message == "is defined inside main, which was not called"


@pytest.mark.parametrize(
    ("signature", "result", "hint"),
    [
        (
            "forward_fn, scale, bias=None",
            "Local",
            "add `made = make(forward_fn=..., scale=...)` at",
        ),
        ("forward_fn", "None", "call it at module level"),
    ],
)
def test_the_call_that_makes_a_function_is_written_out(
    tmp_path: Path, signature: str, result: str, hint: str
) -> None:
    source = f"""
        from gradtool import Function

        def make({signature}):
            class Local(Function):
                @staticmethod
                def forward(ctx, x):
                    return forward_fn(x)
                @staticmethod
                def backward(ctx, g):
                    return g
            return {result}
    """
    path = tmp_path / "ops.py"
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    (found,) = discover(Loader().load(path), "ops.py")
    assert found.unchecked is not None
    assert str(found.unchecked.hint).startswith(hint)


@pytest.mark.parametrize(
    ("body", "purpose"),
    [
        ("def forward(ctx, x): raise NotImplementedError", Purpose.ABSTRACT),
        ("def backward(ctx, g): return g", Purpose.ABSTRACT),
        ("def forwrad(ctx, x): return x\n    def backward(ctx, g): return g", Purpose.MISSPELT),
        ("def forward(ctx, x): return x", Purpose.NO_BACKWARD),
        ("def forward(ctx, x): return x\n    def bacward(ctx, g): return g", Purpose.MISSPELT),
        (
            'def forward(ctx, x): return x\n    def backward(ctx, g): raise RuntimeError("'
            'not differentiable")',
            Purpose.NO_GRADIENT,
        ),
        (
            'def forward(ctx, x): return x\n    def backward(ctx, g): raise ValueError("oh")',
            None,
        ),
        ("def forward(ctx, x): return x\n    def jvp(ctx, t): return t", None),
        (
            "def forward(ctx, x): return F.f(x)\n    def backward(ctx, g): return g\n"
            "    def f(x): raise NotImplementedError",
            Purpose.ABSTRACT,
        ),
    ],
)
def test_purposes_are_told_apart(tmp_path: Path, body: str, purpose: Purpose | None) -> None:
    path = tmp_path / "ops.py"
    path.write_text(f"from gradtool import Function\nclass F(Function):\n    {body}\n")
    (found,) = discover(Loader().load(path), "ops.py")
    assert (found.unchecked and found.unchecked.purpose) is purpose
