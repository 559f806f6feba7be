"""Cases from the notes that the observer took in the processes of a recorded command."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradtool.config.schema import CaseConfig
from gradtool.config.tensor_spec import is_tensor
from gradtool.record.differentiated import differentiated
from gradtool.record.most_telling import most_telling


@dataclass
class Recorded:
    """The distinct arguments of one Function."""

    file: Path
    function: str
    cases: list[CaseConfig] = field(default_factory=list)
    problem: str | None = None
    """Why there are no cases, or fewer than were seen."""


def read_notes(folder: Path, limit: int) -> list[Recorded]:
    """Read the notes in `folder`, at most `limit` cases of each Function, by file and name."""
    found: dict[tuple[str, str], Recorded] = {}
    for note in _notes(folder):
        key = (note["file"], note["function"])
        recorded = found.setdefault(key, Recorded(Path(note["file"]), note["function"]))
        _add(recorded, note)
    for recorded in found.values():
        wanted = differentiated(recorded.file, recorded.function)
        cases = (_to_check(case, wanted) for case in _chosen(recorded.cases, wanted))
        distinct = list({signature(case): case for case in cases}.values())
        recorded.cases = most_telling(distinct, limit)
    return [found[key] for key in sorted(found)]


def _notes(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                yield json.loads(line)
            except ValueError:  # The process was killed while it wrote the line.
                continue


def _add(recorded: Recorded, note: dict[str, Any]) -> None:
    if "problem" in note:
        recorded.problem = note["problem"]
        return
    case = CaseConfig(args=tuple(note["args"]), kwargs=note["kwargs"])
    values = (*case.args, *case.kwargs.values())
    obstacle = next((text for value in values for text in _obstacles(value)), None)
    if "<locals>" in recorded.function:
        recorded.problem = "it is defined inside a function, so it has no name to import"
    elif obstacle is not None:
        recorded.problem = (
            f"an argument is {obstacle}, which cannot be written to a file: use sample_inputs"
        )
    elif not any(signature(case) == signature(other) for other in recorded.cases):
        recorded.cases.append(case)


def _to_check(case: CaseConfig, wanted: frozenset[int]) -> CaseConfig:
    """The case in double precision, with each gradient that backward may return.

    An input that needs no gradient in a program may need one in the next.
    """
    args = tuple(_with_gradient(_in_double(each), at, wanted) for at, each in enumerate(case.args))
    return CaseConfig(args=args, kwargs={k: _in_double(v) for k, v in case.kwargs.items()})


def _with_gradient(value: Any, at: int, wanted: frozenset[int]) -> Any:
    if is_tensor(value) and at in wanted:
        return {key: each for key, each in value.items() if key != "requires_grad"}
    return value


def _in_double(value: Any) -> Any:
    """The argument without float32, which programs use for speed and which shows fewer digits."""
    if isinstance(value, list):
        return [_in_double(each) for each in value]
    if is_tensor(value) and value.get("dtype") == "float32":
        return {key: each for key, each in value.items() if key != "dtype"}
    return value


def _obstacles(value: Any) -> Iterator[str]:
    """Yield what in an argument cannot be written."""
    if isinstance(value, dict):
        if value.keys() == {"cannot"}:
            yield value["cannot"]
            return
        if not is_tensor(value):
            value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _obstacles(each)


def signature(case: CaseConfig) -> str:
    """Return what tells a case from others: not its name, nor the bounds of random entries."""
    return json.dumps([_bare(list(case.args)), _bare(case.kwargs)], sort_keys=True, default=str)


def _bare(value: Any) -> Any:
    if is_tensor(value):
        return {k: v for k, v in value.items() if k not in {"low", "high"}}
    if isinstance(value, dict):
        return {name: _bare(inner) for name, inner in value.items()}
    return [_bare(each) for each in value] if isinstance(value, list) else value


def _chosen(cases: Sequence[CaseConfig], wanted: frozenset[int]) -> list[CaseConfig]:
    """The cases with a gradient; without any, all of them, each made to ask for those `wanted`.

    They ask for all where the source does not show which ones backward may return.
    """
    asking = [case for case in cases if any(map(_asks, (*case.args, *case.kwargs.values())))]
    return asking or [case if wanted else _made_to_ask(case) for case in cases]


def _asks(value: Any) -> bool:
    if is_tensor(value):
        floating = str(value.get("dtype", "float64")).startswith(("float", "complex"))
        integers = (
            "values" in value and "dtype" not in value and not _has_fractions(value["values"])
        )
        return floating and not integers and value.get("requires_grad") is not False
    return any(map(_asks, value)) if isinstance(value, list) else False


def _has_fractions(values: Any) -> bool:
    if isinstance(values, list):
        return any(map(_has_fractions, values))
    return isinstance(values, float)


def _made_to_ask(case: CaseConfig) -> CaseConfig:
    args = tuple(_asking(value) for value in case.args)
    return CaseConfig(args=args, kwargs={k: _asking(v) for k, v in case.kwargs.items()})


def _asking(value: Any) -> Any:
    if is_tensor(value):
        return {k: v for k, v in value.items() if k != "requires_grad"}
    return [_asking(each) for each in value] if isinstance(value, list) else value
