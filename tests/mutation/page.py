"""Writes what came of a whole run as ``docs/mutation.md``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from gradtool.verify.rules import RULES
from tests.mutation.asking import TIMED_OUT
from tests.mutation.expected import TIMES_TOLERANCE
from tests.mutation.judging import Kind
from tests.mutation.operators import OPERATORS
from tests.mutation.originals import ROOT
from tests.mutation.survivors import EXPLAINED
from tests.mutation.trial import Trial, Tried

PAGE = ROOT / "docs" / "mutation.md"

HEAD = """# Mutation testing

Each of the {functions} correct Functions under `samples` and `tests/zoo/right` gets one mistake at
a time: a changed operator, constant, argument, sign, reduction or branch in its `backward`, `vjp`
or `jvp`, or in what its `forward` saves for them. Such a *mutant* is wrong if, in a case of the
Function, a first derivative, a second derivative (unless it declares `once_differentiable`) or a
jvp is more than {times} tolerances away from the derivative that the engine itself computes for the
operations of `forward`, or if it raises or overwrites its arguments. Where `forward` leaves the
engine, extrapolated difference quotients are used instead. At a kink, any slope between the two
one-sided ones is correct, and only first derivatives are compared. The checker's own oracle takes
no part in this judgement.

Every wrong mutant is then checked by gradtool, with the cases of the Function and the rules that
fail a strict run. Written by `python -m tests.mutation --seed {seed}{share}`.
"""

_METHODS = {
    "backward": "`backward`, `vjp`",
    "vjp": "`backward`, `vjp`",
    "helper": "what only `backward` calls",
    "jvp": "`jvp`",
    "forward": "what `forward` or `setup_context` saves",
    "setup_context": "what `forward` or `setup_context` saves",
}


def write(tried: Sequence[Tried], seed: int, share: float = 1.0, page: Path = PAGE) -> None:
    """Write the page, in one go."""
    page.parent.mkdir(exist_ok=True)
    draft = page.with_suffix(".draft")
    draft.write_text(rendered(tried, seed, share), encoding="utf-8")
    draft.replace(page)


def rendered(tried: Sequence[Tried], seed: int, share: float = 1.0) -> str:
    """The text of the page."""
    trials = [trial for each in tried for trial in each.trials]
    part = f" --share {share:g}" if share < 1 else ""
    head = HEAD.format(functions=len(tried), times=TIMES_TOLERANCE, seed=seed, share=part)
    parts = [head, _totals(trials), _by_method(trials), _by_operator(trials), _by_rule(trials)]
    return "\n".join([*parts, _by_answer(trials), _references(tried), _survivors(trials)])


def _totals(trials: Sequence[Trial]) -> str:
    kinds = Counter(trial.kind for trial in trials)
    wrong = [trial for trial in trials if trial.is_wrong]
    survived = sum(trial.survives for trial in wrong)
    rows = [
        ("mutants made", len(trials)),
        ("that compute another forward, or are no class: left out", kinds[Kind.OTHER_FORWARD]),
        ("equivalent", kinds[Kind.EQUIVALENT]),
        ("**wrong**", len(wrong)),
        ("of these: with another derivative", kinds[Kind.DIFFERENT]),
        ("of these: that raise", kinds[Kind.RAISED]),
        ("of these: that write over what `backward` was given", kinds[Kind.OVERWRITES]),
        ("of these: that do not end", kinds[Kind.ENDLESS]),
        ("**found**", len(wrong) - survived),
        ("of these: that could not be verified, which fails a run", _unverified(wrong)),
        ("**survivors**", f"{survived} ({_percent(survived, len(wrong))})"),
    ]
    return _table("## In numbers", ("", "mutants"), rows)


def _unverified(trials: Iterable[Trial]) -> int:
    return sum(trial.is_unverified for trial in trials)


def _by_method(trials: Sequence[Trial]) -> str:
    kinds = tuple(dict.fromkeys(_METHODS.values()))
    return _grouped(
        "## By what was changed", trials, "changed", kinds, lambda t: _METHODS[t.method]
    )


def _by_operator(trials: Sequence[Trial]) -> str:
    return _grouped("## By mistake", trials, "mistake", tuple(OPERATORS), lambda t: t.operator)


def _grouped(
    title: str,
    trials: Sequence[Trial],
    head: str,
    names: Sequence[str],
    key: Callable[[Trial], str],
) -> str:
    rows = []
    for name in names:
        group = [trial for trial in trials if key(trial) == name]
        wrong = [trial for trial in group if trial.is_wrong]
        survived = sum(trial.survives for trial in wrong)
        rows.append((name, len(group), len(wrong), len(wrong) - survived, survived))
    return _table(title, (head, "mutants", "wrong", "found", "survivors"), rows)


def _by_rule(trials: Sequence[Trial]) -> str:
    """Of several rules the first counts: others were asked only of what it let pass."""
    counts = Counter(trial.rules[0] for trial in trials if trial.is_wrong and trial.rules)
    rows = [(code, _words(code), counts[code]) for code in sorted(counts)]
    return _table("## By the first rule that found it", ("rule", "", "mutants"), rows)


def _words(code: str) -> str:
    if code in RULES:
        return RULES[code].name
    return "timed-out" if code == TIMED_OUT else ""


def _by_answer(trials: Sequence[Trial]) -> str:
    counts = Counter(trial.what for trial in trials if trial.is_wrong)
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return _table("## By the first answer that is wrong", ("answer", "mutants"), rows)


def _references(tried: Sequence[Tried]) -> str:
    routes = Counter(route for each in tried for route in each.routes)
    rows = sorted(routes.items(), key=lambda item: (-item[1], item[0]))
    text = [_table("## Where the right answer comes from", ("reference", "cases"), rows)]
    silent = [(f"`{each.original}`", ", ".join(_unique(each.not_asked))) for each in tried]
    silent = [row for row in silent if row[1]]
    if silent:
        text.append(_table("Not asked of mutants:", ("Function", "answer"), silent))
    return "\n".join(text)


def _survivors(trials: Sequence[Trial]) -> str:
    lines = ["## Survivors", ""]
    found = [trial for trial in trials if trial.survives]
    for trial in found:
        why = EXPLAINED.get(trial.fingerprint, "not explained")
        lines += [f"* `{trial.fingerprint}`: {why} ({trial.what})"]
    return "\n".join([*lines, "" if found else "None.\n"])


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f} %" if whole else "of none"


def _table(title: str, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    rows = list(rows)
    columns = zip(*rows, strict=True) if rows else [()] * len(heads)
    marks = ["---:" if any(isinstance(c, int) for c in column) else "---" for column in columns]
    lines = [_row(heads), _row(marks), *map(_row, rows)]
    return "\n".join([title, "", *lines, ""])


def _row(cells: Sequence[Any]) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"
