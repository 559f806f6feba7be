"""Functions that a module defines are found, in order, wherever it defines them."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from gradtool.collect.discovery import can_define_functions, checkable_of, discover, named
from gradtool.collect.loader import LoadedModule, Loader, parse
from gradtool.errors import UsageError

SOURCE = """
    import abc
    from gradtool import Function
    from base import Base, Imported, Scaled

    def method(ctx, *args):
        return args[0]

    def make(name):
        class Made(Function):
            forward = backward = staticmethod(method)
        return Made

    class Later(Base):
        pass

    class Abstract(Function):
        @staticmethod
        def backward(ctx, g):
            return g

    class Template(Function):
        @classmethod
        @abc.abstractmethod
        def formula(cls, x):
            pass

        @classmethod
        def forward(cls, ctx, x):
            return cls.formula(x)

    class _Private(Function):
        forward = backward = staticmethod(method)

    if True:
        class Branch(Function):
            @staticmethod
            def forward(ctx, x):
                return x
    else:
        class Branch(Function):
            pass

    Alias = Branch
    First = make("First")
    Second = make("Second")

    class Outer:
        class Inner(Function):
            forward = backward = staticmethod(method)

    class Plain:
        pass

    def helper(x):
        return x * x

    CONSTANT = 3
"""

BASE = """
    from gradtool import Function

    class Base(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    class Imported(Base):
        pass

    class Scaled(Base):
        pass
"""


@pytest.fixture
def loaded(tmp_path: Path) -> LoadedModule:
    for name, text in (("ops.py", SOURCE), ("base.py", BASE)):
        (tmp_path / name).write_text(textwrap.dedent(text), encoding="utf-8")
    return Loader().load(tmp_path / "ops.py")


def line_of(loaded: LoadedModule, start: str) -> int:
    lines = loaded.path.read_text(encoding="utf-8").splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.strip().startswith(start))


def test_own_functions_are_found_in_the_order_of_the_source(loaded: LoadedModule) -> None:
    found = discover(loaded, "ops.py")
    names = ["First", "Second", "Later", "Abstract", "Template", "_Private", "Branch"]
    assert [checkable.name for checkable in found] == [*names, "Outer.Inner"]
    listed = [checkable.name for checkable in found if checkable.unchecked]
    assert listed == ["Abstract", "Template", "Branch"]


def test_each_is_located_at_its_class(loaded: LoadedModule) -> None:
    lines = {checkable.name: checkable.location.line for checkable in discover(loaded, "ops.py")}
    assert lines["Later"] == line_of(loaded, "class Later")
    assert lines["Branch"] == line_of(loaded, "class Branch")
    assert lines["First"] == line_of(loaded, "class Made")


def test_what_is_named_is_found_wherever_it_was_defined(loaded: LoadedModule) -> None:
    names = ["_Private", "Imported", "Outer.Inner", "Alias", "helper"]
    found = named(loaded, "ops.py", names)
    assert [checkable.name for checkable in found] == names
    assert [checkable.is_function for checkable in found] == [True, True, True, True, False]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Latter", "ops.py has no Function 'Latter' (did you mean 'Later'?)"),
        ("helpr", "ops.py has no Function 'helpr' (did you mean 'helper'?)"),
        ("Outer.Other", "ops.py has no Function 'Outer.Other' (did you mean 'Outer.Inner'?)"),
        ("nothing", "ops.py has no Function 'nothing'"),
        (
            "Plain",
            "ops.py::Plain is a class but neither a Function with a forward nor an nn.Module",
        ),
        ("CONSTANT", "ops.py::CONSTANT is neither a Function nor a callable"),
    ],
)
def test_what_cannot_be_checked_is_refused(loaded: LoadedModule, name: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        named(loaded, "ops.py", [name])
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("source", "may"),
    [
        ("x = 1", False),
        ("class A:\n    pass", False),
        ("def f():\n    class A(B):\n        pass", True),
        ("class A(Function):\n    pass", True),
    ],
)
def test_only_a_class_with_a_base_can_be_a_function(tmp_path: Path, source: str, may: bool) -> None:
    path = tmp_path / "m.py"
    path.write_text(source, encoding="utf-8")
    assert can_define_functions(parse(path)) is may


def test_an_imported_function_is_located_where_it_is(loaded: LoadedModule) -> None:
    with loaded.active():
        checkable = checkable_of(loaded.module.Base)
    assert checkable.name == "Base"
    assert checkable.file.name == "base.py"


@pytest.mark.parametrize("value", [3, int, None])
def test_what_is_no_function_is_a_type_error(value: object) -> None:
    with pytest.raises(TypeError, match="neither a Function with a forward nor a callable"):
        checkable_of(value)


def test_a_class_without_code_of_an_earlier_module_of_that_name_is_left_out(tmp_path: Path) -> None:
    sources = ("class Kept(Base):\n    pass", "class Other(Base):\n    pass")
    loaded = []
    for place, source in enumerate(sources):
        path = tmp_path / str(place) / "ops.py"
        path.parent.mkdir()
        path.write_text(f"from gradtool.engine.autograd import Function as Base\n{source}\n")
        loaded.append(Loader().load(path))
    found = [[each.name for each in discover(each, "ops.py")] for each in reversed(loaded)]
    assert found == [["Other"], ["Kept"]]
