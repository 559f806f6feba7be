"""``--replay``: a finding of an earlier run turned into the options that reproduce it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from gradtool.config.options import CheckOptions
from gradtool.config.overrides import split_config
from gradtool.errors import UsageError
from gradtool.policy.last_run import KnownFinding
from gradtool.results.report import Family
from gradtool.spelling import did_you_mean
from gradtool.verify.rules import codes

_PRINT = re.compile(r"[0-9a-f]{6,32}")
"""A fingerprint, or enough of one."""

_RULE = re.compile(r"GT\d{3}")

_Place = tuple[str, str]
"""A group of `CheckOptions` and a field of it."""

_VALUES: Mapping[str, tuple[_Place, Callable[[str], Any]]] = {
    "--seed": (("numeric", "seed"), int),
    "--device": (("numeric", "device"), str),
    "--engine": (("numeric", "engine"), str),
    "--dtype": (("numeric", "dtype"), str),
    "--atol": (("numeric", "atol"), float),
    "--rtol": (("numeric", "rtol"), float),
    "--explore": (("numeric", "explore"), str),
    "--memory-limit": (("execution", "memory_limit"), str),
}
"""Options of a replay command that take a value: the place and the type of each."""

_SWITCHES: Mapping[str, tuple[_Place, bool]] = {
    "--no-ignores": (("rules", "no_ignores"), True),
    "--isolated": (("config", "isolated"), True),
    "--no-witness": (("numeric", "witness"), False),
}
"""Options of a replay command without a value: the place and the value of each."""


def replaying(
    options: CheckOptions, identifier: str, known: Sequence[KnownFinding], where: str | None
) -> CheckOptions:
    """The options that check for one finding and nothing else.

    Options that were given hold; what they leave open is as it was when the finding was made.

    Args:
        options: Those of the command line.
        identifier: The finding: its node id, its fingerprint or the first digits of that.
        known: The findings there are.
        where: The reports that they were read from; None for the last run, of which not all need
            be known.

    Raises:
        UsageError: There is no such finding.
    """
    _refuse_narrowing(options)
    found = _found(identifier, known, where)
    node, rule = _split(found.node)
    paths, recalled = _recalled(found)
    options = _completed(options, recalled)
    replace = msgspec.structs.replace
    select = () if rule in Family.RUNNING else (rule,)
    return replace(
        options,
        selection=replace(options.selection, paths=paths or (node,)),
        rules=replace(options.rules, select=select, ignore=()),
    )


def _completed(options: CheckOptions, recalled: Mapping[_Place, Any]) -> CheckOptions:
    """The options with recalled values where they leave something open."""
    groups: dict[str, Any] = {}
    for (group, name), value in recalled.items():
        held = groups.get(group, getattr(options, group))
        given = getattr(held, name)
        if given is None or given is False or given == ():
            groups[group] = msgspec.structs.replace(held, **{name: value})
    return msgspec.structs.replace(options, **groups)


def _refuse_narrowing(options: CheckOptions) -> None:
    """Refuse options that choose what is checked, as the finding does."""
    given = {
        **options.selection.narrowing,
        "--select": options.rules.select or None,
        "--require-functions": options.requirements.functions,
    }
    for flag, value in given.items():
        if value is not None:
            raise UsageError(f"--replay checks one finding: omit {flag}")


def _found(identifier: str, known: Sequence[KnownFinding], where: str | None) -> KnownFinding:
    by_node = next((each for each in known if each.node == identifier), None)
    if by_node is not None:
        return by_node
    if _PRINT.fullmatch(identifier):
        return _of_print(identifier, known, where)
    if where is None and _is_node_id(identifier):
        return KnownFinding(node=identifier, fingerprint="")
    raise _unknown(identifier, known, where)


def _of_print(identifier: str, known: Sequence[KnownFinding], where: str | None) -> KnownFinding:
    found = [each for each in known if each.fingerprint.startswith(identifier)]
    if len(found) > 1:
        listed = ", ".join(each.fingerprint for each in found[:3])
        raise UsageError(f"--replay: {identifier} matches several fingerprints: {listed}")
    if not found:
        raise _unknown(identifier, known, where)
    return found[0]


def _is_node_id(text: str) -> bool:
    path, _, rest = text.partition("::")
    return path.endswith(".py") and bool(_RULE.fullmatch(rest.rpartition("::")[2]))


def _unknown(identifier: str, known: Sequence[KnownFinding], where: str | None) -> UsageError:
    hint = did_you_mean(identifier, [each.node for each in known])
    if where is not None:
        return UsageError(f"--replay: {where} has no finding {identifier!r}{hint}")
    if known:
        return UsageError(f"--replay: the last run has no finding {identifier!r}{hint}")
    return UsageError(
        f"--replay: no earlier run is recorded, so {identifier!r} is unknown: name a JSON report, "
        "or give a node id such as file.py::Function[case]::GT101"
    )


def _split(node_id: str) -> tuple[str, str]:
    """The node and the rule of a finding's node id.

    Raises:
        UsageError: There is no such rule.
    """
    node, _, rule = node_id.rpartition("::")
    problem = codes.problem_with(rule)
    if problem:
        raise UsageError(f"--replay: {problem} at the end of {node_id!r}")
    return node, rule


def _recalled(found: KnownFinding) -> tuple[tuple[str, ...], dict[_Place, Any]]:
    """The paths and the options of the command line in the finding.

    Raises:
        UsageError: It is none of gradtool's.
    """
    seed: dict[_Place, Any] = {}
    if found.seed is not None:
        seed["numeric", "seed"] = found.seed
    if found.replay is None:
        return (), seed
    try:
        paths, read = _read(shlex.split(found.replay)[2:])
    except (ValueError, StopIteration):
        raise UsageError(
            f"--replay: the command of {found.node!r} cannot be understood: {found.replay}"
        ) from None
    return paths, {**seed, **read}


def _read(command: Sequence[str]) -> tuple[tuple[str, ...], dict[_Place, Any]]:
    """Paths and options of the words of a command.

    Raises:
        ValueError: An option is none that a replay has, or its value is wrong.
        StopIteration: The last value is missing.
    """
    paths: list[str] = []
    configs: list[str] = []
    read: dict[_Place, Any] = {}
    words = iter(command)
    for word in words:
        if word in _VALUES:
            place, kind = _VALUES[word]
            read[place] = kind(next(words))
        elif word in _SWITCHES:
            place, value = _SWITCHES[word]
            read[place] = value
        elif word in ("--config", "--select"):
            (configs if word == "--config" else []).append(next(words))
        elif word.startswith("-"):
            raise ValueError(word)
        else:
            paths.append(word)
    read["config", "file"], read["config", "overrides"] = split_config(configs)
    return tuple(paths), read
