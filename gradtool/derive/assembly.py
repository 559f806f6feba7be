"""The class that is printed: the user's, with derived methods and what forward saves for them."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gradtool.derive.problem import NotDerivable
from gradtool.derive.writing import Methods, Writer

_REPLACED = frozenset({"forward", "setup_context", "backward", "vjp", "jvp"})
WITHOUT = "without_"
"""Begins the attribute of ctx that notes a missing argument, which may be a tensor elsewhere."""


@dataclass(frozen=True)
class Branch:
    """Methods for some of the cases.

    Args:
        methods: The methods.
        condition: The condition that holds at these cases and at none of the later branches.
        parameters: The arguments that the condition reads from ctx.
        saved: The tensors that it reads.
    """

    methods: Methods
    condition: str | None = None
    parameters: tuple[str, ...] = ()
    saved: tuple[str, ...] = ()


class Assembly:
    """Writes the class of a Function.

    Args:
        writer: Of any of the cases.
        branches: The methods, by case.
        wants_vmap: Let it run under ``torch.vmap``.

    Raises:
        NotDerivable: It cannot run there.
    """

    def __init__(
        self, writer: Writer, branches: Sequence[Branch], *, wants_vmap: bool = False
    ) -> None:
        self._writer = writer
        self._branches = branches
        self._source = writer.source
        self._ctx = writer.ctx
        self._is_split = wants_vmap and writer.has_ctx
        self._wants_vmap = wants_vmap
        if self._is_split and writer.uses_ctx():
            raise NotDerivable(
                "vmap needs setup_context, but forward uses ctx for more than saving"
            )
        self._saved = self._united([[*b.saved, *b.methods.saved] for b in branches])
        self._parameters = self._united([[*b.parameters, *b.methods.parameters] for b in branches])

    def _united(self, lists: Sequence[Sequence[str]]) -> list[str]:
        """All names once: arguments of forward first, in their order."""
        names = list(dict.fromkeys(name for each in lists for name in each))
        places = {name: at for at, name in enumerate(self._writer.parameter_names)}
        return sorted(names, key=lambda name: places.get(name.lstrip("*"), len(places)))

    def text(self) -> str:
        """The source of the class."""
        methods = self._branches[0].methods
        added = []
        if self._saved:
            listed = ", ".join(self._saved)
            added.append(f"{self._ctx}.save_for_backward({listed})")
            if methods.jvp:
                added.append(f"{self._ctx}.save_for_forward({listed})")
        added += [f"{self._ctx}.{name} = {_kept(name)}" for name in self._parameters]
        head = self._head()
        if self._wants_vmap and not any(
            "generate_vmap_rule" in line for line in self._source.lines
        ):
            head.append(f"{'' if len(head) == 1 else chr(10)}    generate_vmap_rule = True")
        blocks = [head, *self._saving(added)]
        blocks.append(
            self._method(
                "backward", methods.cotangents, [b.methods.backward for b in self._branches]
            )
        )
        if methods.jvp:
            blocks.append(
                self._method("jvp", methods.tangents, [b.methods.jvp for b in self._branches])
            )
        blocks += self._rest()
        text = "\n".join("\n".join(block) + "\n" for block in blocks if block)
        return text if len(blocks[0]) > 1 else text.replace("\n\n", "\n", 1)

    def _method(
        self, name: str, arguments: Sequence[str], bodies: Sequence[list[str]]
    ) -> list[str]:
        lines = ["@staticmethod", f"def {name}({self._ctx}, {', '.join(arguments)}):"]
        if self._saved:
            lines.append(f"    {_unpacked(self._saved)} = {self._ctx}.saved_tensors")
        for branch, body in zip(self._branches, bodies, strict=True):
            indent = "    "
            if branch.condition:
                lines.append(f"    if {branch.condition}:")
                indent = "        "
            lines += [f"{indent}{line}" for line in body]
        return [f"    {line}" for line in lines]

    def _head(self) -> list[str]:
        first = next(each for each in self._source.tree.body if isinstance(each, ast.FunctionDef))
        start = min([first.lineno, *(d.lineno for d in first.decorator_list)])
        lines = self._source.lines[: start - 1]
        while lines and not lines[-1].strip():
            lines.pop()
        return lines

    def _saving(self, added: list[str]) -> list[list[str]]:
        """The lines of forward, and of ``setup_context`` if there is one."""
        writer = self._writer
        needs_outputs = any(branch.methods.needs_outputs for branch in self._branches)
        if writer.has_ctx and not self._is_split:
            outputs = writer.output_names if needs_outputs else []
            at_top = bool(writer.recorded.rebound) or writer.returns_early()
            return [self._source.edited(writer.forward, self._ctx, added, outputs, at_top=at_top)]
        forward = self._source.text(writer.forward)
        if self._is_split:
            forward = self._source.edited(writer.forward, self._ctx, [], [], at_top=False)
            forward = [
                re.sub(rf"\b{self._ctx}\b(, |)", "", line, count=1)
                if "def forward(" in line or line.strip() == f"{self._ctx},"
                else line
                for line in forward
            ]
        setup = self._source.method("setup_context")
        marks = [each for each in (setup.body if setup else ()) if "mark_" in ast.unparse(each)]
        body = self._unpacking(is_marked=bool(marks)) if added or marks else []
        body += added
        if marks and setup is not None:
            ctx = setup.args.args[0].arg
            return [forward, self._source.edited(setup, ctx, body, [], at_top=True)]
        lines = ["@staticmethod", "def setup_context(ctx, inputs, output):"]
        lines += [f"    {line}" for line in body or ["pass"]]
        return [forward, [f"    {line}" for line in lines]]

    def _unpacking(self, *, is_marked: bool) -> list[str]:
        """The statements that give inputs and outputs their names in ``setup_context``."""
        writer = self._writer
        lines = [f"{_unpacked(writer.parameter_names)} = inputs"]
        needs_outputs = is_marked or any(b.methods.needs_outputs for b in self._branches)
        if needs_outputs and writer.recorded.is_tuple:
            lines.append(f"{_unpacked(writer.output_names)} = output")
        elif needs_outputs and writer.output_names[0] != "output":
            lines.append(f"{writer.output_names[0]} = output")
        return lines

    def _rest(self) -> list[list[str]]:
        found = []
        seen_method = False
        for each in self._source.tree.body:
            if isinstance(each, ast.FunctionDef):
                seen_method = True
                if each.name not in _REPLACED:
                    found.append(self._source.text(each))
            elif seen_method:
                found.append(self._source.text(each))
        return found


def _kept(name: str) -> str:
    """The value that ctx keeps under a name."""
    return f"{name.removeprefix(WITHOUT)} is None" if name.startswith(WITHOUT) else name


def _unpacked(names: Sequence[str]) -> str:
    if len(names) == 1 and names[0].startswith("*"):
        return names[0][1:]
    return f"({names[0]},)" if len(names) == 1 else ", ".join(names)
