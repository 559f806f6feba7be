"""The methods that are derived from a recording, and what they need saved."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradtool.adapters.common.binding import parameters_of, takes_ctx
from gradtool.derive.expression import Expression, Graph, needed
from gradtool.derive.factoring import factored
from gradtool.derive.problem import NotDerivable
from gradtool.derive.program import Names, Target, statements
from gradtool.derive.recorded import Recorded
from gradtool.derive.reverse import cotangents
from gradtool.derive.source import ClassSource, saving_statements


@dataclass(frozen=True)
class Wanted:
    """Parts to write besides backward, and the means."""

    jvp: bool = False
    vmap: bool = False
    saves_outputs: bool = True


@dataclass(frozen=True)
class Methods:
    """The bodies of methods, derived from one recording.

    Args:
        backward: The statements of backward.
        jvp: The statements of jvp; none if it is not wanted.
        cotangents: The arguments of backward after ctx.
        tangents: The arguments of jvp after ctx.
        saved: The names of the tensors that forward saves.
        parameters: The other arguments that ctx carries.
        needs_outputs: Some of the tensors are outputs.
    """

    backward: list[str]
    jvp: list[str]
    cotangents: list[str]
    tangents: list[str]
    saved: list[str]
    parameters: list[str]
    needs_outputs: bool


class Writer:
    """Derives the methods of one Function from one recording.

    Args:
        cls: The Function.
        recorded: Its forward, recorded.
        wanted: What is to be written.
    """

    def __init__(self, cls: Any, recorded: Recorded, wanted: Wanted) -> None:
        self._cls = cls
        self.recorded = recorded
        self._wanted = wanted
        self.source = ClassSource.of(cls)
        forward = self.source.method("forward")
        if forward is None:
            raise NotDerivable("forward is inherited: derive the class that defines it")
        self.forward = forward
        self.has_ctx = takes_ctx(cls)
        self.ctx = forward.args.args[0].arg if self.has_ctx else "ctx"
        self._graph: Graph = recorded.graph
        self.parameter_names = [each.name for each in parameters_of(cls)]
        # Another case may take the branch that gives the name to something else.
        recorded.rebound |= {*self.parameter_names} & set(_stored(forward))
        self._grad_names: dict[Expression, str] = {}
        self.output_names = self._named_outputs()
        self._sent = self._sent_cotangents()

    def methods(self) -> Methods:
        """The bodies of the methods, and what they need saved.

        Raises:
            NotDerivable: An operation has no derivative.
        """
        grads = self._grads()
        known = self._known()
        backward, used = self._backward(grads, known)
        jvp: list[str] = []
        tangents: list[str] = []
        if self._wanted.jvp or self.source.method("jvp") is not None:
            tangents, jvp, also = self._jvp(grads, known)
            used |= also
        for each in used:
            if each.kind == "leaf" and each.name in self.recorded.changed:
                changed = f"forward changes {each.name} in place, but backward needs its old value"
                raise NotDerivable(changed)
        saved = self._saved(used)
        outputs = {*self.recorded.outputs} - {*self.recorded.inputs}
        return Methods(
            backward=backward,
            jvp=jvp,
            cotangents=self._cotangent_names(),
            tangents=tangents,
            saved=self._listed(saved, self._names(known).given),
            parameters=[p for p, leaf in self.recorded.parameters.items() if leaf in used],
            needs_outputs=any(each in outputs for each in saved),
        )

    # Names

    def _named_outputs(self) -> list[str]:
        last = self.forward.body[-1]
        outputs = self.recorded.outputs
        values: Sequence[ast.expr | None] = [None] * len(outputs)
        if isinstance(last, ast.Return) and last.value is not None:
            values = (
                last.value.elts
                if isinstance(last.value, ast.Tuple) and len(outputs) == len(last.value.elts)
                else [last.value] * len(outputs)
            )
        taken = set(self.parameter_names)
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
        for name, out in zip(names, self.recorded.outputs, strict=True):
            value = (
                torch.zeros(())
                if out is None
                else torch.randn_like(out.value)
                if _is_floating(out)
                else torch.zeros(())
            )
            found.append(self._graph.leaf(name, value))
        pairs = zip(found, self.recorded.outputs, strict=True)
        self._graph.cotangents.update({g: out for g, out in pairs if out is not None})
        return found

    def _cotangent_names(self) -> list[str]:
        if len(self.recorded.outputs) == 1:
            return ["grad_output"]
        return [f"grad_{name}" for name in self.output_names]

    def _grads(self) -> dict[Expression, Expression]:
        sent = [
            (out, g)
            for out, g in zip(self.recorded.outputs, self._sent, strict=True)
            if out is not None
            and out in self.recorded.active
            and _is_floating(out)
            and out not in self.recorded.fixed
        ]
        found = cotangents(
            sent,
            self.recorded.active,
            self.recorded.lines,
            self._grad_names,
            self.recorded.names,
        )
        for leaf in self.recorded.inputs:
            if leaf is not None and leaf in self.recorded.active and leaf not in found:
                found[leaf] = self._graph.function("zeros_like", leaf)
        for g in self._sent:
            found = {leaf: factored(value, g) for leaf, value in found.items()}
        return found

    def _known(self) -> set[Expression]:
        """Values that backward finds saved."""
        recorded = self.recorded
        found = {each for each in recorded.inputs if each is not None}
        found |= set(recorded.parameters.values()) | set(self._sent)
        found |= self._drawn()
        last = self.forward.body[-1]
        plain = not self.has_ctx or not self.returns_early()
        if self.has_ctx and plain and recorded.is_tuple:
            value = getattr(last, "value", None)
            plain = isinstance(value, ast.Tuple) and len(value.elts) == len(recorded.outputs)
        if self._wanted.saves_outputs and plain and not (self.has_ctx and recorded.rebound):
            found |= {each for each in recorded.outputs if each is not None}
        return found

    def _drawn(self) -> set[Expression]:
        """Variables of forward that hold random numbers."""
        recorded = self.recorded
        return (
            {each for each in recorded.random if each in recorded.names} if self.has_ctx else set()
        )

    def uses_ctx(self) -> bool:
        """Return True if forward does more with ctx than save."""
        saving = {id(each) for _, each in saving_statements(self.forward, self.ctx)}
        found = [each for each in self.forward.body if id(each) not in saving]
        names = (node for each in found for node in ast.walk(each) if isinstance(node, ast.Name))
        return any(node.id == self.ctx for node in names)

    def returns_early(self) -> bool:
        """Return True if forward may end before its last statement."""
        return (
            not isinstance(self.forward.body[-1], ast.Return)
            or sum(isinstance(e, ast.Return) for e in ast.walk(self.forward)) > 1
        )

    # Methods

    def _backward(
        self, grads: dict[Expression, Expression], known: set[Expression]
    ) -> tuple[list[str], set[Expression]]:
        leaves = self.recorded.inputs
        names = self._names(known)
        targets, returned = [], []
        several = sum(1 for leaf in leaves if leaf in grads) > 1
        for place, leaf in enumerate(leaves):
            if leaf is None or leaf not in grads:
                returned.append("None")
                continue
            name = names.free(f"grad_{_identifier(leaf.name)}")
            condition = f"{self.ctx}.needs_input_grad[{place}]" if several else None
            targets.append(Target(name, grads[leaf], condition))
            returned.append(name)
        returned += ["None"] * (len(self.parameter_names) - len(leaves))
        return self._body(targets, returned, known, names)

    def _body(
        self,
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
        return body, used

    def _jvp(
        self, grads: dict[Expression, Expression], known: set[Expression]
    ) -> tuple[list[str], list[str], set[Expression]]:
        torch, recorded = self._graph.torch, self.recorded
        tangents = [
            self._graph.leaf(
                f"{name}_t",
                torch.randn_like(leaf.value) if leaf is not None and leaf in grads else 0,
            )
            for name, leaf in zip(
                self._all_names(),
                [*recorded.inputs, *[None] * len(self.parameter_names)],
                strict=False,
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
        for out, u, name in zip(recorded.outputs, self._sent, self.output_names, strict=True):
            if out is None or not _is_floating(out) or out in recorded.fixed:
                returned.append("None")
                continue
            made = names.free(f"{name}_t")
            targets.append(Target(made, found.get(u, self._graph.function("zeros_like", out))))
            returned.append(made)
        body, used = self._body(targets, returned, known | set(tangents), names)
        return [t.name for t in tangents], body, used - set(tangents)

    def _all_names(self) -> list[str]:
        given = [_identifier(name) for name in self.recorded.argument_names]
        return [*given, *self.parameter_names[len(given) :]]

    def _names(self, known: set[Expression]) -> Names:
        recorded = self.recorded
        given: dict[Expression, str] = {}
        for leaf in recorded.inputs:
            if leaf is not None:
                given[leaf] = leaf.name
        given.update(zip(self._sent, self._cotangent_names(), strict=True))
        for name, leaf in recorded.parameters.items():
            given[leaf] = f"{self.ctx}.{name}"
        for name, out in zip(self.output_names, recorded.outputs, strict=True):
            if out is not None and out in known:
                given.setdefault(out, name)
        for each in self._drawn():
            given.setdefault(each, recorded.names[each])
        suggested = {
            e: n
            for e, n in {**self._grad_names, **self._graph.names, **recorded.names}.items()
            if e not in given
        }
        # Names of the module that the code may use.
        taken = {self.ctx, self._graph.torch_name, *given.values(), *vars(_module(self._cls))}
        return Names(given, taken, suggested)

    def _saved(self, used: set[Expression]) -> list[Expression]:
        """The tensors to save, in the order of inputs, then outputs, then others."""
        recorded = self.recorded
        order = [*recorded.inputs, *recorded.outputs, *sorted(self._drawn(), key=lambda e: e.order)]
        found = [each for each in order if each is not None and each in used and each.is_tensor]
        return list(dict.fromkeys(found))

    def _listed(self, saved: Sequence[Expression], names: Mapping[Expression, str]) -> list[str]:
        """The names to save tensors by; those of a variadic parameter are saved together."""
        variadic = self.forward.args.vararg
        star = f"*{variadic.arg}" if variadic else ""
        listed = [
            star if star and each.name.startswith(f"{star[1:]}[") else names[each] for each in saved
        ]
        return list(dict.fromkeys(listed))


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


def _stored(function: ast.FunctionDef) -> Iterator[str]:
    """Yield the names that a function assigns to."""
    for each in ast.walk(function):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield each.id
