"""Unites the JSON reports of the shards of a run, or of runs over different files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from gradtool.errors import UsageError
from gradtool.regular_file import read_regular
from gradtool.results.report import SCHEMA_VERSION, FunctionResult, ModuleResult, Report


class Part(msgspec.Struct, frozen=True):
    """One report that was read, and from where."""

    name: str
    report: Report


_LARGEST = 2**30
"""Bytes of the largest report that is read: those of large runs can be long."""


def read_part(name: str) -> Part:
    """Read the JSON report in the file `name`.

    Raises:
        UsageError: It cannot be read, is no report, or one of another version.
    """
    try:
        data = read_regular(Path(name), _LARGEST)
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}") from None
    try:
        # The version first: a report of another one may not decode, and that error would mislead.
        schema = msgspec.json.decode(data, type=_Head).schema
        if schema == SCHEMA_VERSION:
            return Part(name, msgspec.json.decode(data, type=Report))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{name} is not a gradtool JSON report: {error}") from None
    raise UsageError(f"{name} has schema {schema}: this gradtool reads schema {SCHEMA_VERSION}")


class _Head(msgspec.Struct):
    schema: int


def merge(parts: Sequence[Part], command: str) -> Report:
    """One report that says what all of `parts` say.

    Raises:
        UsageError: They do not belong together, overlap, or something that a shard was to check
            is missing.
    """
    _require_same_run(parts)
    order = _order_of(parts)
    _refuse_overlap(parts)
    _refuse_gaps(parts, order)
    first = parts[0].report
    modules = _united(parts, order)
    return msgspec.structs.replace(
        first,
        command=command,
        strict=any(part.report.strict for part in parts),
        modules=modules,
        configs=_each_once(part.report.configs for part in parts),
        deselected=sum(part.report.deselected for part in parts),
        passed_over=_each_once(part.report.passed_over for part in parts),
        may_be_empty=all(part.report.may_be_empty for part in parts),
        unmet=_each_once(part.report.unmet for part in parts),
        notices=_each_once(part.report.notices for part in parts),
        faults=tuple(fault for part in parts for fault in part.report.faults),
        seconds=sum(part.report.seconds for part in parts),
        interrupted=any(part.report.interrupted for part in parts),
        exit_code=None,
        shard=None,
    )


def _require_same_run(parts: Sequence[Part]) -> None:
    first = parts[0]
    for part in parts[1:]:
        for what, ours, theirs in (
            ("version", first.report.environment.gradtool, part.report.environment.gradtool),
            ("engine", first.report.environment.engine, part.report.environment.engine),
            ("seed", first.report.seed, part.report.seed),
            ("number of seeds", first.report.seeds, part.report.seeds),
            ("left-out rules", first.report.left_out, part.report.left_out),
        ):
            if ours != theirs:
                message = f"{first.name} and {part.name} come from different runs: {what}"
                raise UsageError(f"{message} {_spelled(ours)} and {_spelled(theirs)}")


def _spelled(value: object) -> str:
    return ", ".join(value) or "none" if isinstance(value, tuple) else str(value)


def _order_of(parts: Sequence[Part]) -> list[str]:
    """Node ids in the order of the whole run, once it is clear that every shard is there."""
    shards = [(part, part.report.shard) for part in parts if part.report.shard is not None]
    if not shards:
        return []
    if len(shards) < len(parts):
        whole = next(part.name for part in parts if part.report.shard is None)
        raise UsageError(f"{whole} covers a complete run, but the others cover shards")
    of = {(shard.count, shard.nodes) for _, shard in shards if shard}
    if len(of) > 1:
        raise UsageError("the reports come from shards of different runs")
    ((count, nodes),) = of
    numbers = Counter(shard.number for _, shard in shards if shard)
    twice = sorted(number for number, times in numbers.items() if times > 1)
    if twice:
        raise UsageError(f"shard {twice[0]}/{count} appears twice")
    missing = sorted(set(range(1, count + 1)) - numbers.keys())
    if missing:
        listed = ", ".join(f"{number}/{count}" for number in missing)
        raise UsageError(f"missing {'shard' if len(missing) == 1 else 'shards'}: {listed}")
    return list(nodes)


def _refuse_overlap(parts: Sequence[Part]) -> None:
    seen: dict[str, str] = {}
    for part in parts:
        for node in _nodes(part.report):
            if node in seen:
                raise UsageError(f"{node} is in both {seen[node]} and {part.name}")
            seen[node] = part.name


def _refuse_gaps(parts: Sequence[Part], order: Sequence[str]) -> None:
    """Refuse shards that together lack a result, unless one of them says that it is incomplete."""
    if any(part.report.interrupted or part.report.faults for part in parts):
        return
    found = {node for part in parts for node in _nodes(part.report)}
    found |= {module.path for part in parts for module in part.report.modules}
    found |= {node for part in parts if part.report.shard for node in part.report.shard.unmatched}
    missing = [node for node in order if node not in found]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise UsageError(f"no shard has a result for {missing[0]}{more}")


def _nodes(report: Report) -> list[str]:
    functions = [f"{module.path}::{function.name}" for module, function in report.functions()]
    return functions + [module.path for module in report.modules if module.checks]


def _united(parts: Sequence[Part], order: Sequence[str]) -> tuple[ModuleResult, ...]:
    """The modules of all parts, each once, with its Functions in the order of the whole run."""
    place = {node: number for number, node in enumerate(order)}
    by_path: dict[str, list[ModuleResult]] = {}
    for part in parts:
        for module in part.report.modules:
            by_path.setdefault(module.path, []).append(module)
    modules = [_one(path, found, place) for path, found in by_path.items()]
    return tuple(sorted(modules, key=lambda module: _first_place(module, place)))


def _one(path: str, found: Sequence[ModuleResult], place: dict[str, int]) -> ModuleResult:
    def key(function: FunctionResult) -> int:
        return place.get(f"{path}::{function.name}", 0)

    functions = [function for module in found for function in module.functions]
    checks = tuple(check for module in found for check in module.checks)
    digests = {module.digest for module in found}
    if len(digests) > 1:
        raise UsageError(f"{path} is not the same file in all reports: its SHA-256 differs")
    return ModuleResult(
        path=path,
        digest=digests.pop(),
        functions=tuple(sorted(functions, key=key)),
        checks=checks,
    )


def _first_place(module: ModuleResult, place: dict[str, int]) -> int:
    nodes = [module.path, *(f"{module.path}::{function.name}" for function in module.functions)]
    return min((place[node] for node in nodes if node in place), default=len(place))


def _each_once(groups: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for group in groups for line in group))
