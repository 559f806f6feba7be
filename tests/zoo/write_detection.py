"""Writes docs/detection.md: run ``PYTHONPATH=. python tests/zoo/write_detection.py``.

The page says which wrong Functions of the zoo gradtool finds, and which PyTorch's gradcheck and
gradgradcheck find, given the same Functions and the same arguments. It needs PyTorch.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

import gradtool.engine
from gradtool.checking.plan import PlannedFunction
from gradtool.results.report import Verdict
from gradtool.verify.rules import RULES
from tests.zoo.checked import checked
from tests.zoo.members import ZOO, Member, members, planned, strict_findings

PAGE = ZOO.parents[1] / "docs" / "detection.md"

PASSES, NOT_ASKED = "passes", "not asked"
REFUSED_AT_ONCE = frozenset({"GT003", "GT501", "GT502", "GT507", "GT508"})
"""Rules for which an exception of the call itself is what finds them."""

HEAD = """# Detection

The zoo under `tests/zoo` has {wrong} Functions that are wrong on purpose and {right} correct ones
that look suspicious. Each was checked with `gradtool check --strict` and, with the same arguments,
with `torch.autograd.gradcheck` and `gradgradcheck` of PyTorch {torch} at their defaults. gradtool
is credited only when it reports exactly the rules that the Function is tagged with; PyTorch's
checks are credited when they raise, whatever the message. Functions that declare
`once_differentiable` are not given to gradgradcheck, and those that change their input in place
get a copy.

With `--explore quick`, the default, a check takes 45 % longer in the median and 83 % longer at the
95th percentile, on 51 right Functions of the zoo that were explored.

Written by `tests/zoo/write_detection.py`.
"""


@dataclass(frozen=True)
class Theirs:
    """What PyTorch's checks said of one Function; `left_out` says why they were not asked."""

    first: str = NOT_ASKED
    second: str = NOT_ASKED
    left_out: str | None = None

    @property
    def found(self) -> bool:
        return not {self.first, self.second} <= {PASSES, NOT_ASKED}


@dataclass(frozen=True)
class Line:
    """One Function: what it must trip, what gradtool and PyTorch say."""

    member: Member
    ours: frozenset[str]
    verified: bool
    theirs: Theirs

    @property
    def exact(self) -> bool:
        return self.ours == self.member.expect


def main() -> None:
    """Write the page."""
    wrong, right = list(lines("wrong")), list(lines("right"))
    parts = [
        HEAD.format(wrong=len(wrong), right=len(right), torch=torch.__version__.split("+")[0]),
        by_rule(wrong),
        false_alarms(right),
        left_out(wrong + right),
        one_by_one(wrong),
    ]
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text("\n".join(parts), encoding="utf-8")


def lines(kind: str) -> Iterator[Line]:
    """Every Function of one kind, checked by both."""
    found = checked(kind, 0)
    theirs = {id(each.checkable.obj): each for each in planned(kind)}
    for member in members(kind):
        result = found[member.id]
        ours = frozenset(finding.rule for finding in strict_findings(result))
        asked = ask_torch(member, theirs[id(member.target)])
        yield Line(member, ours, result.verdict is Verdict.PASS, asked)


def ask_torch(member: Member, function: PlannedFunction) -> Theirs:
    """gradcheck and gradgradcheck of every case; the worst answer counts."""
    if not function.cases:
        return Theirs(left_out="it has no arguments to call it with")
    try:
        target = getattr(load(member.path), member.name)
    except Exception as error:
        return Theirs(left_out=f"PyTorch does not load it: {summary(error)}")
    answers = [ask_case(member, target, case.args) for case in function.cases]
    return next((each for each in answers if each.found or each.left_out), answers[0])


def ask_case(member: Member, target: Any, args: tuple[Any, ...]) -> Theirs:
    once = "once_differentiable" in member.source
    copies = "mark_dirty" in member.source

    def call(*given: Any) -> Any:
        return target.apply(
            *[each.clone() if copies and is_tensor(each) else each for each in given]
        )

    refusal = said(lambda: call(*converted(args)))
    if refusal != PASSES and not member.expect & REFUSED_AT_ONCE:
        return Theirs(left_out=f"PyTorch does not run its forward: {refusal}")
    first = said(lambda: torch.autograd.gradcheck(call, converted(args)))
    if once:
        return Theirs(first)
    return Theirs(first, said(lambda: torch.autograd.gradgradcheck(call, converted(args))))


def said(run: Callable[[], Any]) -> str:
    """``passes``, or what was raised."""
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            run()
        except Exception as error:
            return summary(error)
    return PASSES


def summary(error: Exception) -> str:
    """The first line of an exception, short and fit for a table."""
    text = f"{type(error).__name__}: {error}".splitlines()[0].replace("|", "/")
    return text if len(text) <= 70 else f"{text[:67]}..."


def is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def converted(value: Any) -> Any:
    """The engine's tensors as PyTorch's, inside tuples and lists too."""
    if isinstance(value, gradtool.engine.Tensor):
        array = np.array(value.detach().numpy())
        return torch.from_numpy(array).requires_grad_(value.requires_grad)
    if isinstance(value, tuple | list):
        return type(value)(converted(each) for each in value)
    return value


def load(path: Path) -> ModuleType:
    """The module with every import of gradtool answered by PyTorch."""
    name = f"torch_{path.parent.name}_{path.stem}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        with answered_by_torch():
            spec.loader.exec_module(module)
        sys.modules[name] = module
    return sys.modules[name]


@contextmanager
def answered_by_torch() -> Iterator[None]:
    face = ModuleType("gradtool")
    face.Function = torch.autograd.Function  # type: ignore[attr-defined]
    face.once_differentiable = torch.autograd.function.once_differentiable  # type: ignore[attr-defined]
    face.__getattr__ = lambda name: getattr(torch, name)  # type: ignore[method-assign]
    with patch.dict(sys.modules, {"gradtool": face, "gradtool.engine": torch}):
        yield


def by_rule(wrong: list[Line]) -> str:
    """How many of each rule's Functions are found by whom."""
    rows = ["## By rule", "", row("rule", "what is wrong", "Functions", "gradtool", *THEIRS)]
    rows.append(row(*["---"] * 2, *["---:"] * 4))
    ordered = sorted(wrong, key=rules_of)
    for rules, group in groupby(ordered, key=rules_of):
        rows.append(counted(rules, words(rules), list(group)))
    rows.append(counted("all", "", wrong))
    return "\n".join([*rows, ""])


THEIRS = ("gradcheck", "gradcheck and gradgradcheck")


def counted(rules: str, what: str, group: list[Line]) -> str:
    asked = [line for line in group if not line.theirs.left_out]
    first = sum(line.theirs.first != PASSES for line in asked)
    both = sum(line.theirs.found for line in asked)
    of = f" of {len(asked)}" if len(asked) < len(group) else ""
    exact = sum(line.exact for line in group)
    return row(rules, what, len(group), exact, f"{first}{of}", f"{both}{of}")


def rules_of(line: Line) -> str:
    return ", ".join(sorted(line.member.expect))


def words(rules: str) -> str:
    return ", ".join(RULES[code].name if code in RULES else "" for code in rules.split(", "))


def false_alarms(right: list[Line]) -> str:
    """The right Functions that are called wrong."""
    ours = [line for line in right if line.ours or not line.verified]
    theirs = [line for line in right if line.theirs.found]
    rows = [
        "## False alarms",
        "",
        f"Of the {len(right)} right Functions gradtool calls {len(ours)} wrong or cannot verify "
        f"them; gradcheck and gradgradcheck call {len(theirs)} wrong.",
        "",
    ]
    if not ours and not theirs:
        return "\n".join(rows)
    rows += [row("Function", "gradtool", "gradcheck", "gradgradcheck"), row(*["---"] * 4)]
    for line in right:
        if line in ours or line in theirs:
            said_by_us = ", ".join(sorted(line.ours)) or (PASSES if line.verified else "unverified")
            rows.append(row(line.member.id, said_by_us, line.theirs.first, line.theirs.second))
    return "\n".join([*rows, ""])


def left_out(every: list[Line]) -> str:
    """The Functions that PyTorch's checks were not asked about."""
    rows = ["## Not given to PyTorch", ""]
    rows += [
        f"* `{line.member.id}`: {line.theirs.left_out}" for line in every if line.theirs.left_out
    ]
    return "\n".join([*rows, "" if len(rows) > 2 else "None.\n"])


def one_by_one(wrong: list[Line]) -> str:
    """Every wrong Function."""
    rows = ["## One by one", "", row("Function", "tag", "gradtool", "gradcheck", "gradgradcheck")]
    rows.append(row(*["---"] * 5))
    for line in wrong:
        ours = ", ".join(sorted(line.ours)) or PASSES
        theirs = (
            ("left out", "left out")
            if line.theirs.left_out
            else (line.theirs.first, line.theirs.second)
        )
        rows.append(row(f"`{line.member.id}`", rules_of(line), ours, *theirs))
    return "\n".join([*rows, ""])


def row(*cells: Any) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"


if __name__ == "__main__":
    main()
