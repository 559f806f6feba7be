"""The gradients of a recorded forward in which one expression is another one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from gradtool.adapters.common.alterations.altered_code import altered, standin
from gradtool.adapters.common.alterations.definitions import Function, definitions
from gradtool.adapters.common.alterations.forward.edit import Edit, Forward
from gradtool.adapters.common.alterations.forward.edits import edits
from gradtool.adapters.common.alterations.forward.standins import Standins
from gradtool.adapters.common.alterations.shown_code import shortened
from gradtool.adapters.common.alterations.trees import replaced
from gradtool.adapters.common.bound_function import BoundFunction
from gradtool.adapters.common.recorded_forward import RecordedForward
from gradtool.adapters.common.vjp import copied, cotangent_tensors, vjp
from gradtool.adapters.library import Outputs, library
from gradtool.verify.protocol.observation import Alteration, Array, Cotangents, Primals


class AlteredForward:
    """One point of a recorded forward, whose code may be altered there.

    Args:
        bound: The recorded forward of a Function with its arguments.
        primals: The point.
    """

    def __init__(self, bound: BoundFunction, primals: Primals) -> None:
        self._bound, self._primals = bound, primals
        recorded = bound.callable
        cls = recorded.apply.cls if isinstance(recorded, RecordedForward) else None
        self._functions = definitions(cls.forward) if cls is not None else []
        self._seen = [self._watched(function, tree) for function, tree in self._functions]

    def alterations(self) -> list[Alteration]:
        """Return what may be altered."""
        return list(self._edits)

    def gradients(
        self, cotangents: Cotangents, alterations: Sequence[Alteration]
    ) -> Iterator[tuple[Array | None, ...] | None]:
        """Yield the gradients of each alteration; None for one that forward does not run with."""
        for alteration in alterations:
            edit = self._edits.get(alteration)
            yield self._altered(*edit, cotangents) if edit else None

    def _altered(
        self, at: int, edit: Edit, cotangents: Cotangents
    ) -> tuple[Array | None, ...] | None:
        function, tree = self._functions[at]
        seen = self._seen[at]
        made = replaced(tree, {edit.node: edit.made})
        try:
            with altered(function, made, Standins({**seen.final, **seen.numbers}, seen.turns)):
                leaves, outputs = self._run()
                sent = cotangent_tensors(outputs, cotangents)
                return tuple([copied(each) for each in vjp(outputs, sent, leaves)])
        except Exception:  # An altered forward may raise anything.
            return None

    def _watched(self, function: Function, tree: ast.FunctionDef) -> Standins:
        """Run forward once, to see the last values of a function's variables and its loops."""
        noted: dict[ast.AST, ast.AST] = {}
        loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
        for node in ast.walk(tree):
            if isinstance(node, ast.Return) and node.value is not None:
                variables = ast.Call(ast.Name("locals", ast.Load()), [], [])
                noted[node.value] = standin("leave", variables, node.value)
        for number, loop in enumerate(loops):
            count = ast.Expr(standin("is_turn", ast.Constant(number), ast.Constant(0)))
            noted[loop.body[0]] = ast.If(ast.Constant(True), [count, loop.body[0]], [])
        standins = Standins({}, {})
        with altered(function, replaced(tree, noted), standins):
            self._run()
        return standins

    def _run(self) -> tuple[Sequence[Any], Outputs]:
        with library().torch.enable_grad():
            leaves, tensors = self._bound.arguments.tracked(self._primals)
            return leaves, self._bound(tensors)

    @cached_property
    def _edits(self) -> dict[Alteration, tuple[int, Edit]]:
        """Each alteration, with the place of its function and its edit."""
        made: dict[Alteration, tuple[int, Edit]] = {}
        for at, (function, tree) in enumerate(self._functions):
            path = function.__code__.co_filename
            seen = self._seen[at]
            forward = Forward(tree, sorted(seen.final), sorted(seen.numbers))
            for number, edit in enumerate(edits(forward)):
                alteration = _alteration(path, edit, number)
                if alteration is not None:
                    made[alteration] = at, edit
        return made


def _alteration(path: str, edit: Edit, number: int) -> Alteration | None:
    line = getattr(edit.shown, "lineno", None)
    loop = isinstance(edit.shown, ast.For | ast.While)
    code = "" if loop else ast.unparse(edit.shown)
    code, other = shortened(code, edit.other), shortened(edit.other, code)
    if line is None or code == other:
        return None
    return Alteration(path, line, edit.kind, code, other, number)
