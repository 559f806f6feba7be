"""Writes down which names PyTorch has: run ``python tests/engine/write_torch_names.py``.

The list lets gradtool tell a name that its engine lacks from one that PyTorch never had. It
needs PyTorch, of the version the engine follows.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import logging
import pkgutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

LIST = Path(__file__).parents[2] / "gradtool" / "engine" / "_torch_names.txt"

LISTED_PACKAGES = ("torch", "torch.autograd", "torch.cuda", "torch.nn", "torch.utils")
"""Of these and the modules directly below, every name is listed; of others, only the modules."""


def main() -> None:
    """Write the list."""
    LIST.write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8")


def lines() -> Iterator[str]:
    """A line for each class and module: its name, a colon, and what it has.

    A slash ends the name of a module, an exclamation mark that of an exception, and three
    dots stand for names that are not listed. What private modules hold is not listed at all.
    """
    with _quiet():
        torch = importlib.import_module("torch")
        yield _line("torch.Tensor", [name for name in dir(torch.Tensor) if _wanted(name)])
        for name, children in sorted(_tree(torch).items()):
            listed = name in LISTED_PACKAGES or name.rpartition(".")[0] in LISTED_PACKAGES
            if listed:
                yield _line(name, [*_attributes(name, children), *_marked(children)])
            elif children:
                yield _line(name, [*_marked(children), "..."])


def _line(name: str, has: list[str]) -> str:
    return f"{name}: {' '.join(sorted(has))}"


def _marked(children: set[str]) -> list[str]:
    return [f"{child}/" for child in children]


def _tree(torch: ModuleType) -> dict[str, set[str]]:
    """The public modules, each with the last names of those directly below it."""
    tree: dict[str, set[str]] = {}
    pending = [torch.__name__]
    while pending:
        name = pending.pop()
        tree[name] = set(_children(name))
        pending += [f"{name}.{child}" for child in tree[name] if not child.startswith("_")]
    tree["torch"] |= {"_C", "classes", "ops"}
    return tree


def _children(name: str) -> Iterator[str]:
    try:
        module = importlib.import_module(name)
    except ImportError:
        return
    for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if _wanted(found.name):
            yield found.name


def _attributes(module: str, children: set[str]) -> Iterator[str]:
    try:
        found = importlib.import_module(module)
    except ImportError:
        yield "..."
        return
    exported = getattr(found, "__all__", ())
    for name in dir(found):
        value = getattr(found, name, None)
        own = name in exported or (_wanted(name) and _is_torchs(value))
        if own and name not in children:
            yield name + ("!" if _is_exception(value) else "")


def _wanted(name: str) -> bool:
    return not name.startswith("__") and name not in {"TYPE_CHECKING", "annotations", "torch"}


def _is_torchs(value: Any) -> bool:
    """Whether it is PyTorch's own, not something that it imported."""
    if inspect.ismodule(value):
        home = value.__name__
    elif inspect.isclass(value) or inspect.isfunction(value):
        home = value.__module__
    else:
        return getattr(value, "__module__", None) != "typing"
    return home.partition(".")[0] == "torch" or home.startswith("torch_")


def _is_exception(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, BaseException)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Some of PyTorch's modules warn, print or log when they are imported."""
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)


if __name__ == "__main__":
    main()
