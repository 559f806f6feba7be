"""The class that is printed: the user's, with a derived backward and what forward saves for it."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradtool.adapters.common.binding import parameters_of, takes_ctx
from gradtool.derive.expression import Expression, Graph, needed
from gradtool.derive.problem import NotDerivable
from gradtool.derive.program import Names, Target, statements
from gradtool.derive.reverse import cotangents
from gradtool.derive.source import ClassSource
from gradtool.derive.trace import Recorded

_REPLACED = frozenset({"forward", "setup_context", "backward", "vjp", "jvp"})


@dataclass(frozen=True)
class Wanted:
    """What is to be written besides backward, and by which means."""

    jvp: bool = False
    vmap: bool = False
    saves_outputs: bool = True


class Writer:
    """Writes one Function.

    Args:
        cls: The Function.
        recorded: Its forward, recorded.
        wanted: What is to be written.
    """

    def __init__(self, cls: Any, recorded: Recorded, wanted: Wanted) -> None:
        self._cls = cls
        self._recorded = recorded
        self._wanted = wanted
        self._source = ClassSource.of(cls)
        forward = self._source.method("forward")
        if forward is None:
            raise NotDerivable("forward is inherited: derive the class that defines it")
        self._forward = forward
        self._has_ctx = takes_ctx(cls)
        self._ctx = forward.args.args[0].arg if self._has_ctx else "ctx"
        self._graph: Graph = recorded.graph
        self._parameters = [each.name for each in parameters_of(cls)]
        self._grad_names: dict[Expression, str] = {}
        self._output_names = self._named_outputs()
        self._sent = self._sent_cotangents()

    def text(self) -> str:
        """The class.

        Raises:
            NotDerivable: An operation has no derivative.
        """
        grads = self._grads()
        known = self._known()
        backward, used = self._backward(grads, known)
        jvp: list[str] = []
        if self._wanted.jvp or self._source.method("jvp") is not None:
            jvp, also = self._jvp(grads, known)
            used |= also
        return self._assembled(used, backward, jvp)

    # Names

    def _named_outputs(self) -> list[str]:
        last = self._forward.body[-1]
        outputs = self._recorded.outputs
        values: Sequence[ast.expr | None] = [None] * len(outputs)
        if isinstance(last, ast.Return) and last.value is not None:
            values = (
                last.value.elts
                if isinstance(last.value, ast.Tuple) and len(outputs) == len(last.value.elts)
                else [last.value] * len(outputs)
            )
        taken = set(self._parameters)
        names = []
        for place, (value, out) in enumerate(zip(values, outputs, strict=True)):
            wanted = (
                value.id
                if isinstance(value, ast.Name) and len(outputs) == len(set(map(id, values)))
                else None
            )
            if wanted is None:
                wanted = "output" if len(outputs) == 1 else f"output{place + 1}"
                while wanted in taken:
                    wanted += "_"
            names.append(wanted)
            taken.add(wanted)
            del out
        return names

    def _sent_cotangents(self) -> list[Expression]:
        torch = self._graph.torch
        found = []
        names = self._cotangent_names()
        for name, out in zip(names, self._recorded.outputs, strict=True):
            value = (
                torch.zeros(())
                if out is None
                else torch.randn_like(out.value)
                if _is_floating(out)
                else torch.zeros(())
            )
            found.append(self._graph.leaf(name, value))
        return found

    def _cotangent_names(self) -> list[str]:
        if len(self._recorded.outputs) == 1:
            return ["grad_output"]
        return [f"grad_{name}" for name in self._output_names]

    def _grads(self) -> dict[Expression, Expression]:
        sent = [
            (out, g)
            for out, g in zip(self._recorded.outputs, self._sent, strict=True)
            if out is not None
            and out in self._recorded.active
            and _is_floating(out)
            and out not in self._recorded.fixed
        ]
        found = cotangents(
            sent,
            self._recorded.active,
            self._recorded.lines,
            self._grad_names,
            self._recorded.names,
        )
        for leaf in self._recorded.inputs:
            if leaf is not None and leaf in self._recorded.active and leaf not in found:
                found[leaf] = self._graph.function("zeros_like", leaf)
        return found

    def _known(self) -> set[Expression]:
        """What backward finds saved."""
        recorded = self._recorded
        found = {each for each in recorded.inputs if each is not None}
        found |= set(recorded.parameters.values()) | set(self._sent)
        found |= self._drawn()
        last = self._forward.body[-1]
        plain = not self._has_ctx or not self._returns_early()
        if self._has_ctx and plain and recorded.is_tuple:
            value = getattr(last, "value", None)
            plain = isinstance(value, ast.Tuple) and len(value.elts) == len(recorded.outputs)
        if self._wanted.saves_outputs and plain and not (self._has_ctx and recorded.rebound):
            found |= {each for each in recorded.outputs if each is not None}
        return found

    def _drawn(self) -> set[Expression]:
        """Variables of forward that hold random numbers."""
        recorded = self._recorded
        return (
            {each for each in recorded.random if each in recorded.names} if self._has_ctx else set()
        )

    # Methods

    def _backward(
        self, grads: dict[Expression, Expression], known: set[Expression]
    ) -> tuple[list[str], set[Expression]]:
        leaves = self._recorded.inputs
        names = self._names(known)
        targets, returned = [], []
        several = sum(1 for leaf in leaves if leaf in grads) > 1
        for place, leaf in enumerate(leaves):
            if leaf is None or leaf not in grads:
                returned.append("None")
                continue
            name = names.free(f"grad_{_identifier(leaf.name)}")
            condition = f"{self._ctx}.needs_input_grad[{place}]" if several else None
            targets.append(Target(name, grads[leaf], condition))
            returned.append(name)
        returned += ["None"] * (len(self._parameters) - len(leaves))
        return self._method("backward", self._cotangent_names(), targets, returned, known, names)

    def _method(
        self,
        name: str,
        arguments: Sequence[str],
        targets: list[Target],
        returned: list[str],
        known: set[Expression],
        names: Names,
    ) -> tuple[list[str], set[Expression]]:
        used = {
            each for each in needed([target.value for target in targets], known) if each in known
        }
        body = statements(targets, known, names)
        single = returned[0] if len(returned) == 1 and len(targets) == 1 else None
        if single and body and body[-1].startswith(f"{single} = "):
            body[-1] = "return " + body[-1].removeprefix(f"{single} = ")
        else:
            body.append(f"return {', '.join(returned)}")
        saved = self._saved(used)
        lines = ["@staticmethod", f"def {name}({self._ctx}, {', '.join(arguments)}):"]
        if saved:
            unpacked = _unpacked(self._listed(saved, names.given))
            lines.append(f"    {unpacked} = {self._ctx}.saved_tensors")
        return [*lines, *(f"    {line}" for line in body)], used

    def _jvp(
        self, grads: dict[Expression, Expression], known: set[Expression]
    ) -> tuple[list[str], set[Expression]]:
        torch, recorded = self._graph.torch, self._recorded
        tangents = [
            self._graph.leaf(
                f"{name}_t",
                torch.randn_like(leaf.value) if leaf is not None and leaf in grads else 0,
            )
            for name, leaf in zip(
                self._all_names(), [*recorded.inputs, *[None] * len(self._parameters)], strict=False
            )
        ]
        sent = [
            (grads[leaf], t)
            for leaf, t in zip(recorded.inputs, tangents, strict=False)
            if leaf in grads
        ]
        active = _depending([g for g, _ in sent], set(self._sent))
        found = cotangents(sent, active, {}, {}, {})
        names = self._names(known)
        names.taken |= {t.name for t in tangents}
        names.given.update((t, t.name) for t in tangents)
        targets, returned = [], []
        for out, u, name in zip(recorded.outputs, self._sent, self._output_names, strict=True):
            if out is None or not _is_floating(out) or out in recorded.fixed:
                returned.append("None")
                continue
            made = names.free(f"{name}_t")
            targets.append(Target(made, found.get(u, self._graph.function("zeros_like", out))))
            returned.append(made)
        return self._method(
            "jvp", [t.name for t in tangents], targets, returned, known | set(tangents), names
        )

    def _all_names(self) -> list[str]:
        given = [_identifier(name) for name in self._recorded.argument_names]
        return [*given, *self._parameters[len(given) :]]

    def _names(self, known: set[Expression]) -> Names:
        recorded = self._recorded
        given: dict[Expression, str] = {}
        for leaf in recorded.inputs:
            if leaf is not None:
                given[leaf] = leaf.name
        given.update(zip(self._sent, self._cotangent_names(), strict=True))
        for name, leaf in recorded.parameters.items():
            given[leaf] = f"{self._ctx}.{name}"
        for name, out in zip(self._output_names, recorded.outputs, strict=True):
            if out is not None and out in known:
                given.setdefault(out, name)
        for each in self._drawn():
            given.setdefault(each, recorded.names[each])
        suggested = {
            e: n for e, n in {**self._grad_names, **recorded.names}.items() if e not in given
        }
        # Names of the module that the code may use.
        taken = {self._ctx, self._graph.torch_name, *given.values(), *vars(_module(self._cls))}
        return Names(given, taken, suggested)

    def _saved(self, used: set[Expression]) -> list[Expression]:
        """The tensors to save, in the order of inputs, then outputs, then others."""
        recorded = self._recorded
        order = [*recorded.inputs, *recorded.outputs, *sorted(self._drawn(), key=lambda e: e.order)]
        found = [each for each in order if each is not None and each in used and each.is_tensor]
        return list(dict.fromkeys(found))

    def _listed(self, saved: Sequence[Expression], names: Mapping[Expression, str]) -> list[str]:
        """The names to save tensors by; those of a variadic parameter are saved together."""
        variadic = self._forward.args.vararg
        star = f"*{variadic.arg}" if variadic else ""
        listed = [
            star if star and each.name.startswith(f"{star[1:]}[") else names[each] for each in saved
        ]
        return list(dict.fromkeys(listed))

    # The class

    def _assembled(self, used: set[Expression], backward: list[str], jvp: list[str]) -> str:
        recorded = self._recorded
        for each in used:
            if each.kind == "leaf" and each.name in recorded.changed:
                raise NotDerivable(
                    f"forward changes {each.name} in place, whose old value backward needs"
                )
        saved = self._saved(used)
        names = self._names(self._known()).given
        added = []
        if saved:
            listed = ", ".join(self._listed(saved, names))
            added.append(f"{self._ctx}.save_for_backward({listed})")
            if jvp:
                added.append(f"{self._ctx}.save_for_forward({listed})")
        added += [
            f"{self._ctx}.{p} = {p}" for p, leaf in recorded.parameters.items() if leaf in used
        ]
        needs_outputs = [o for o in saved if o in recorded.outputs and o not in recorded.inputs]
        blocks = [self._head(), *self._saving(added, bool(needs_outputs))]
        blocks += [
            [f"    {line}" if line else line for line in each] for each in (backward, jvp) if each
        ]
        blocks += self._rest()
        text = "\n".join("\n".join(block) + "\n" for block in blocks if block)
        return text if len(blocks[0]) > 1 else text.replace("\n\n", "\n", 1)

    def _head(self) -> list[str]:
        first = next(each for each in self._source.tree.body if isinstance(each, ast.FunctionDef))
        start = min([first.lineno, *(d.lineno for d in first.decorator_list)])
        lines = self._source.lines[: start - 1]
        while lines and not lines[-1].strip():
            lines.pop()
        return lines

    def _saving(self, added: list[str], needs_outputs: bool) -> list[list[str]]:
        if self._has_ctx:
            outputs = self._output_names if needs_outputs else []
            return [
                self._source.edited(
                    self._forward,
                    self._ctx,
                    added,
                    outputs,
                    at_top=bool(self._recorded.rebound) or self._returns_early(),
                )
            ]
        body = [f"        {line}" for line in added]
        setup = self._source.method("setup_context")
        marks = [each for each in (setup.body if setup else ()) if "mark_" in ast.unparse(each)]
        lines = ["    @staticmethod", "    def setup_context(ctx, inputs, output):"]
        if added:
            lines.append(f"        {_unpacked(self._parameters)} = inputs")
        if (needs_outputs or marks) and self._recorded.is_tuple:
            lines.append(f"        {_unpacked(self._output_names)} = output")
        elif needs_outputs and self._output_names[0] != "output":
            lines.append(f"        {self._output_names[0]} = output")
        if marks and setup is not None:
            return [
                self._source.text(self._forward),
                self._source.edited(
                    setup,
                    setup.args.args[0].arg,
                    [
                        *([lines[2].strip()] if added else []),
                        *([each.strip() for each in lines[3:]]),
                        *added,
                    ],
                    [],
                    at_top=True,
                ),
            ]
        return [self._source.text(self._forward), [*lines, *(body or ["        pass"])]]

    def _returns_early(self) -> bool:
        return (
            not isinstance(self._forward.body[-1], ast.Return)
            or sum(isinstance(e, ast.Return) for e in ast.walk(self._forward)) > 1
        )

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


def _unpacked(names: Sequence[str]) -> str:
    if len(names) == 1 and names[0].startswith("*"):
        return names[0][1:]
    return f"({names[0]},)" if len(names) == 1 else ", ".join(names)


def _identifier(name: str) -> str:
    return name.replace("[", "_").replace("]", "").replace(".", "_")


def _is_floating(value: Expression) -> bool:
    return value.is_tensor and (value.value.dtype.is_floating_point or value.value.dtype.is_complex)


def _depending(roots: list[Expression], on: set[Expression]) -> set[Expression]:
    found = set(on)
    for each in needed(roots):
        if any(operand in found for operand in each.operands()):
            found.add(each)
    return found


def _module(cls: Any) -> Any:
    import sys

    return sys.modules[cls.__module__]
