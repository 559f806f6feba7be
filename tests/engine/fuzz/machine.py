"""One library that programs run on: its namespace, its events, and its state put back."""

from __future__ import annotations

import functools
import importlib
import io
import warnings
from contextlib import redirect_stdout, suppress
from types import CodeType
from typing import Any

from tests.engine.fuzz.observe import noted
from tests.engine.fuzz.program import PRELUDE


class Machine:
    """A namespace in which statements run, on PyTorch or on the bundled engine."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.events: list[Any] = []
        """What statements and their hooks noted."""
        self.space: dict[str, Any] = {"note": self._note, **_names_of(torch)}
        exec(_helpers(), self.space)

    def _note(self, *values: Any) -> None:
        self.events.append(tuple(noted(self.torch, each) for each in values))

    def run(self, statement: CodeType) -> BaseException | None:
        """Run a statement. Answer what it raised."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(statement, self.space)
        except Exception as error:  # whatever it raises is compared
            return error.with_traceback(None)
        return None

    def tensors(self) -> dict[str, Any]:
        """The tensors that have names, by name."""
        kind = self.torch.Tensor
        return {name: each for name, each in self.space.items() if isinstance(each, kind)}

    def close(self) -> None:
        """Leave what is still entered."""
        opened = self.space["opened"]
        while opened:
            with suppress(Exception), redirect_stdout(io.StringIO()):
                opened.pop().__exit__(None, None, None)
        self.torch.set_grad_enabled(True)
        self.space.clear()


def _names_of(torch: Any) -> dict[str, Any]:
    name = torch.__name__
    return {
        "torch": torch,
        "copy": importlib.import_module("copy"),
        "fwAD": importlib.import_module(f"{name}.autograd.forward_ad"),
        "Function": torch.autograd.Function,
        "checkpoint": importlib.import_module(f"{name}.utils.checkpoint").checkpoint,
    }


@functools.cache
def _helpers() -> CodeType:
    """The prelude without its imports, which would import the installed torch on either side."""
    lines = [line for line in PRELUDE.splitlines() if not line.startswith(("import ", "from "))]
    return compile("\n".join(lines), "<prelude>", "exec")


@functools.lru_cache(4096)
def compiled(statement: str) -> CodeType | None:
    """A statement compiled once for both sides; None for one that is no Python."""
    try:
        return compile(statement, "<program>", "exec")
    except SyntaxError:
        return None
