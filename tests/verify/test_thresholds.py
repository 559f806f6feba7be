"""The numeric constants of the checker are in one place, and each says where it comes from."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from numbers import Number
from pathlib import Path
from types import ModuleType

import pytest

import gradtool.verify
from gradtool.verify import thresholds

HOME = Path(thresholds.__file__).parent
GROUPS = sorted(path.stem for path in HOME.glob("*.py") if path.stem != "__init__")
MODULES = [p for p in sorted(HOME.parent.rglob("*.py")) if HOME not in p.parents]
USERS = (HOME.parent, HOME.parents[1] / "adapters")
SAYS = ("Unit", r"Doubled", r"[Hh]alved")


def assigned(path: Path) -> Iterator[tuple[str, str | None]]:
    """Each name that a module binds to a value of its own, and the text below it."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    for node, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            (target,) = node.targets if isinstance(node, ast.Assign) else (node.target,)
            text = following.value if isinstance(following, ast.Expr) else None
            documented = isinstance(text, ast.Constant) and isinstance(text.value, str)
            yield ast.unparse(target), str(text.value) if documented else None


def is_numeric(value: object) -> bool:
    if isinstance(value, dict):
        named = any(isinstance(key, str) for key in value)  # A table, not a threshold.
        return bool(value) and not named and all(map(is_numeric, value.values()))
    if isinstance(value, tuple | list | set | frozenset):
        return bool(value) and all(map(is_numeric, value))
    return isinstance(value, Number) and not hasattr(value, "_name_")  # No member of an enum.


def imported(path: Path) -> ModuleType:
    parts = path.relative_to(Path(gradtool.verify.__file__).parents[2]).with_suffix("").parts
    return importlib.import_module(".".join(parts).removesuffix(".__init__"))


@pytest.mark.parametrize("group", GROUPS)
def test_each_constant_has_a_unit_and_the_effect_of_another_value(group: str) -> None:
    silent = [
        name
        for name, text in assigned(HOME / f"{group}.py")
        if not all(re.search(word, text or "") for word in SAYS)
    ]
    assert silent == []


def test_no_name_stands_for_two_values() -> None:
    names = [name for group in GROUPS for name, _ in assigned(HOME / f"{group}.py")]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(HOME.parent).as_posix())
def test_no_numeric_constant_lives_elsewhere(path: Path) -> None:
    module = imported(path)
    names = [name for name, _ in assigned(path) if name.isidentifier() and name.upper() == name]
    assert [name for name in names if is_numeric(getattr(module, name))] == []


def test_every_constant_is_used() -> None:
    paths = [path for folder in USERS for path in folder.rglob("*.py")]
    source = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    for group in GROUPS:
        for name, _ in assigned(HOME / f"{group}.py"):
            assert len(re.findall(rf"\b{name}\b", source)) > 2, name
