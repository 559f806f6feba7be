"""The steps of a recorded forward, and its gradient with some of them held constant.

A step is an expression of the user's code; in a loop it has a node for each turn. A step with an
operand stands for the gradient that goes from the expression to that operand alone.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from gradtool.adapters.common.bound_function import BoundFunction
from gradtool.adapters.common.step_source import (
    expressions,
    module_source,
    operation_of,
    place_of,
    target_of,
    value_of,
)
from gradtool.adapters.common.vjp import copied, cotangent_tensors, vjp
from gradtool.adapters.library import library
from gradtool.verify.protocol.observation import Array, Cotangents, Primals, Step


class RecordedSteps:
    """One call to a recorded forward, whose graph is kept with the lines that made it."""

    def __init__(self, bound: BoundFunction, primals: Primals) -> None:
        self._bound = bound
        # In anomaly mode nodes keep the stack of their making.
        lines = library().torch.autograd.set_detect_anomaly(True, check_nan=False)
        with library().torch.enable_grad(), lines:
            self._leaves, tensors = bound.arguments.tracked(primals)
            self._outputs = bound(tensors)
        self._nodes = nodes_before([out.grad_fn for out in self._outputs if out is not None])
        self._places = {
            node: place for node in self._nodes if (place := place_of(node, bound.home)) is not None
        }
        self._statements = {
            node: statement
            for node, (path, line, _) in self._places.items()
            if (statement := module_source(path).statement(line)) is not None
        }

    @cached_property
    def steps(self) -> dict[Step, list[tuple[Any, int | None]]]:
        """For each step the nodes whose gradient it is, or whose gradient of one input.

        The ones nearest to the outputs come first.
        """
        made = self._step_of_node
        found: dict[Step, list[tuple[Any, int | None]]] = {}
        for node in self._nodes:
            if node in made:
                found.setdefault(made[node], []).append((node, None))
        for node in self._nodes:
            for at, (source, _) in enumerate(node.next_functions):
                operand = None if source is None else self._operand(source)
                if node in made and operand and operand != made[node].shown:
                    found.setdefault(self._by(node, operand), []).append((node, at))
        return found

    def _by(self, node: Any, operand: str) -> Step:
        """The gradient that passes to an operand: of a part of a call, one of the call."""
        step, call = self._step_of_node[node], self._expressions.get(node)
        if step.code is None and call is not None:
            step = replace(step, code=self._text(node, call), line=call.lineno)
        return step.by(operand)

    def gradients(
        self, cotangents: Cotangents, constant: Sequence[Step]
    ) -> tuple[Array | None, ...]:
        """The gradient of each argument, where nothing flows through some steps."""
        with ExitStack() as hooks, library().torch.enable_grad():
            for node, at in (each for step in constant for each in self.steps[step]):
                hooks.callback(_stopped(node, at).remove)
            sent = cotangent_tensors(self._outputs, cotangents)
            return tuple([copied(each) for each in vjp(self._outputs, sent, self._leaves)])

    @cached_property
    def _expressions(self) -> dict[Any, ast.expr]:
        """The expression that each node computes, or a part of, where the library notes it."""
        return {
            node: expression
            for node, (path, _, positions) in self._places.items()
            if (expression := module_source(path).expression(positions)) is not None
        }

    def _text(self, node: Any, match: ast.AST | None) -> str | None:
        return module_source(self._places[node][0]).text(match) if match else None

    @cached_property
    def _step_of_node(self) -> dict[Any, Step]:
        parts = {source for node in self._statements for source in self._parts(node)}
        matches = self._matched()
        found = {}
        for node, statement in self._statements.items():
            path, line, _ = self._places[node]
            operation, value = operation_of(node), value_of(statement)
            if node in parts and node in self._expressions:
                found[node] = Step(path, line, operation)
            elif node not in parts and value is not None and self._is_value(node, statement):
                text, name = self._text(node, value), target_of(statement)
                found[node] = Step(path, statement.lineno, operation, text, name)
            else:
                match = matches.get(node)
                line = getattr(match, "lineno", line)
                found[node] = Step(path, line, operation, self._text(node, match))
        return found

    def _parts(self, node: Any) -> Iterator[Any]:
        """The nodes that lead to one, and belong to what is computed with it."""
        for source, _ in node.next_functions:
            one, other = self._expressions.get(node), self._expressions.get(source)
            if one is None and other is None:
                if self._statements.get(source) is self._statements[node]:
                    yield source
            # In a loop, a result may lead to its like of the next turn.
            elif one is other and operation_of(source) != operation_of(node):
                yield source

    def _is_value(self, node: Any, statement: ast.stmt) -> bool:
        """Return True if a node computes what a statement assigns or returns."""
        expression = self._expressions.get(node)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        return expression in (None, value_of(statement), *targets)

    def _matched(self) -> dict[Any, ast.AST]:
        """The expression that each node computes; if the library does not note it, a likely one."""
        alike = Counter((s, operation_of(node)) for node, s in self._statements.items())
        seen: Counter[Any] = Counter()
        found: dict[Any, ast.AST] = dict(self._expressions)
        # As they were made, which is how the expressions of a line are evaluated.
        for node in sorted(self._statements.keys() - found.keys(), key=_sequence):
            key = self._statements[node], operation_of(node)
            matches = expressions(*key)
            if len(matches) == 1 or len(matches) == alike[key]:
                found[node] = matches[seen[key] % len(matches)]
                seen[key] += 1
        return found

    def _operand(self, node: Any) -> str | None:
        """The variable or argument whose gradient goes to a node; None if it has no name."""
        while node not in self._step_of_node:
            for leaf, argument in zip(self._leaves, self._bound.arguments.tensors, strict=True):
                if leaf is not None and getattr(node, "variable", None) is leaf:
                    return argument.name
            if len(node.next_functions) != 1 or node.next_functions[0][0] is None:
                return None
            node = node.next_functions[0][0]
        step, expression = self._step_of_node[node], self._expressions.get(node)
        # A variable, or an element or attribute of one.
        is_short = isinstance(expression, ast.Subscript | ast.Attribute)
        return step.name or (step.code if is_short else None)


def nodes_before(roots: Sequence[Any]) -> list[Any]:
    """Return all nodes that lead to some, and these, the newest first."""
    found = dict.fromkeys(root for root in roots if root is not None)
    waiting = list(found)
    while waiting:
        for node, _ in waiting.pop().next_functions:
            if node is not None and node not in found:
                found[node] = None
                waiting.append(node)
    return sorted(found, key=_sequence, reverse=True)


def _sequence(node: Any) -> int:
    number: int = node._sequence_nr()
    return number


def _stopped(node: Any, at: int | None) -> Any:
    """Let no gradient through a node, or into one of its inputs, until the handle is removed."""
    zeros = library().torch.zeros_like
    if at is None:
        return node.register_prehook(
            lambda grads: tuple([None if grad is None else zeros(grad) for grad in grads])
        )
    return node.register_hook(
        lambda grads, _: tuple(
            [
                zeros(grad) if place == at and grad is not None else grad
                for place, grad in enumerate(grads)
            ]
        )
    )
