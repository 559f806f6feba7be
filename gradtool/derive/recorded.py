"""Values that a run of forward computed, as expressions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gradtool.derive.expression import Expression, Graph


@dataclass
class Recorded:
    """Values that a run of forward computed.

    Args:
        graph: All expressions.
        inputs: A leaf for each argument that is a tensor, None for others, in order.
        outputs: An expression for each output that is a tensor, None for others.
        names: The variable that an expression was assigned to.
        parameters: The arguments that are no tensors, by their names.
        rebound: The arguments whose names forward gives to something else.
    """

    graph: Graph
    inputs: list[Expression | None] = field(default_factory=list)
    outputs: list[Expression | None] = field(default_factory=list)
    names: dict[Expression, str] = field(default_factory=dict)
    parameters: dict[str, Expression] = field(default_factory=dict)
    rebound: set[str] = field(default_factory=set)
    lines: dict[Expression, int] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    """Inputs that are changed in place."""
    random: set[Expression] = field(default_factory=set)
    """What random numbers alone decide, which can be saved and not computed again."""
    active: set[Expression] = field(default_factory=set)
    """What depends on an input that needs a gradient."""
    fixed: set[Expression] = field(default_factory=set)
    """Outputs that are marked as not differentiable."""
    loops: dict[int, tuple[tuple[int, int], int]] = field(default_factory=dict)
    """Of each line with a loop the lines of its body, and how often it ran."""
    argument_names: list[str] = field(default_factory=list)
    is_tuple: bool = False

    def unrolled(self) -> dict[int, int]:
        """The lines of loops that compute something to differentiate, and their steps."""
        lines = {self.lines[each] for each in self.active if each in self.lines}
        return {
            line: steps
            for line, ((first, last), steps) in self.loops.items()
            if steps > 1 and any(first <= each <= last for each in lines)
        }


class Context:
    """Takes the place of ctx while forward is recorded; keeps nothing."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad

    def save_for_backward(self, *tensors: Any) -> None:
        """Do nothing."""

    save_for_forward = mark_dirty = mark_non_differentiable = save_for_backward

    def set_materialize_grads(self, value: bool) -> None:
        """Do nothing."""
