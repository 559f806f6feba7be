"""Mistakes in a configuration that its types do not exclude."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from gradtool.config.decoding import decode, spelled
from gradtool.config.document import Document, Where
from gradtool.config.resources import DEVICE, parse_size
from gradtool.config.schema import CaseConfig, File, FunctionConfig, ModuleConfig, case_name
from gradtool.config.tensor_spec import MAIN_KEYS, TensorSpec, is_tensor, problem_with
from gradtool.errors import UsageError
from gradtool.spelling import nearest
from gradtool.verify.rules import codes

_MISSPELT = 0.8
"""Similarity to a main key that a key of a mapping must have: ``scale`` is not ``shape``."""

_AS_IT_IS = "write {literal: ...} to pass a mapping as it is"


def refuse_mistakes(document: Document, file: File) -> None:
    """Raise for the first mistake.

    Raises:
        UsageError: A rule does not exist, a reason or a name is missing, or a tensor is
            impossible.
    """
    for where, message in _mistakes(file):
        raise document.error(where, message)
    for name, function in file.functions.items():
        for i, case in enumerate(function.cases):
            _check_arguments(document, case, ("functions", name, "cases", i))
        if function.module is not None:
            _check_arguments(document, function.module, ("functions", name, "module"))


def _mistakes(file: File) -> Iterator[tuple[Where, str]]:
    """Yield values of the right type that are wrong, each with its place."""
    check = file.check
    if check.device is not None:
        yield from _device_mistake(check.device)
    if check.memory_limit is not None:
        yield from _size_mistake(check.memory_limit)
    for key in ("select", "ignore"):
        for i, code in enumerate(getattr(check, key)):
            yield from _code_mistake(code, ("check", key, i), f"check.{key}")
    for name, function in file.functions.items():
        where = ("functions", name)
        yield from _name_mistake(name)
        for code, reason in function.ignore.items():
            yield from _ignore_mistake(code, reason, (*where, "ignore", code))
        yield from _case_name_mistakes(function, where)
        yield from _tolerance_mistakes(function, where)
        yield from _surrogate_mistakes(function, where)


def _device_mistake(device: str) -> Iterator[tuple[Where, str]]:
    if not DEVICE.fullmatch(device):
        yield ("check", "device"), f"check.device must be cpu, cuda or cuda:N, got {device!r}"


def _size_mistake(size: str) -> Iterator[tuple[Where, str]]:
    try:
        parse_size(size)
    except ValueError as error:
        yield ("check", "memory_limit"), f"check.memory_limit {error}"


def _code_mistake(code: str, where: Where, place: str) -> Iterator[tuple[Where, str]]:
    problem = codes.problem_with(code)
    if problem:
        yield where, f"{problem} in {place}"


def _ignore_mistake(code: str, reason: str, where: Where) -> Iterator[tuple[Where, str]]:
    yield from _code_mistake(code, where, spelled(where[:-1]))
    if not reason.strip():
        yield where, f"{spelled(where)} needs a reason: say why the rule does not apply"


def _name_mistake(name: str) -> Iterator[tuple[Where, str]]:
    path, separator, function = name.rpartition("::")
    if not function or (separator and PurePosixPath(path).suffix != ".py"):
        message = f"functions: key {name!r} must be a name or 'file.py::name'"
        yield ("functions", name), message


def _case_name_mistakes(function: FunctionConfig, where: Where) -> Iterator[tuple[Where, str]]:
    seen: set[str] = set()
    for i, case in enumerate(function.cases):
        place = (*where, "cases", i, *(() if case.name is None else ("name",)))
        problem = None if case.name is None else _problem_with_case_name(case.name)
        if problem:
            yield place, f"{spelled(place)}{problem}"
        name = case_name(case, i + 1)
        if name in seen:
            default = "" if case.name else ": give the unnamed case a name"
            yield place, f"case name {name!r} appears twice in {spelled(where)}{default}"
        seen.add(name)


def _problem_with_case_name(name: str) -> str | None:
    if not name.strip():
        return " must not be empty: omit it to have the case numbered"
    if name != name.strip():
        return f": {name!r} must not begin or end with a space"
    if not set(name).isdisjoint("[]:\n"):
        return f": {name!r} must not contain '[', ']', ':' or a line break"
    return None


def _tolerance_mistakes(function: FunctionConfig, where: Where) -> Iterator[tuple[Where, str]]:
    """Yield reasons and last days of a tolerance that is not given."""
    places: list[tuple[FunctionConfig | CaseConfig, Where]] = [(function, where)]
    places += [(case, (*where, "cases", i)) for i, case in enumerate(function.cases)]
    for config, place in places:
        for key in ("reason", "expires"):
            if key == "reason" and isinstance(config, FunctionConfig) and config.surrogate:
                continue
            if getattr(config, key) is not None and config.atol is None and config.rtol is None:
                message = f"{spelled((*place, key))} applies only to a tolerance: add atol or rtol"
                yield (*place, key), message


def _surrogate_mistakes(function: FunctionConfig, where: Where) -> Iterator[tuple[Where, str]]:
    place = (*where, "surrogate")
    if function.surrogate and not (function.reason or "").strip():
        yield place, f"{spelled(place)} needs a reason: say why the gradient differs"
    if function.surrogate_of is not None and not function.surrogate:
        other = (*where, "surrogate_of")
        yield other, f"{spelled(other)} needs 'surrogate': list the arguments that have this "


"gradient"


def _check_arguments(document: Document, call: CaseConfig | ModuleConfig, where: Where) -> None:
    for i, value in enumerate(call.args):
        _check_value(document, value, (*where, "args", i))
    for key, value in call.kwargs.items():
        _check_value(document, value, (*where, "kwargs", key))


def _check_value(document: Document, value: Any, where: Where) -> None:
    """Check the tensors in an argument, at any depth."""
    if is_tensor(value):
        _check_tensor(document, value, where)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            _check_value(document, item, (*where, i))
    elif isinstance(value, dict) and "literal" in value:
        if len(value) > 1:
            raise document.error(
                where, f"{spelled(where)}: 'literal' must be the only key of its mapping"
            )
    elif isinstance(value, dict):
        _refuse_misspelt(document, value, where)
        for key, item in value.items():
            _check_value(document, item, (*where, key if isinstance(key, int) else str(key)))


def _refuse_misspelt(document: Document, value: dict[Any, Any], where: Where) -> None:
    """Raise for a mapping that forward would get as it is because its main key is misspelt."""
    for key in value:
        meant = nearest(str(key), MAIN_KEYS, _MISSPELT)
        if meant is not None:
            place = (*where, key if isinstance(key, int) else str(key))
            problem = f"unknown key {key!r} in {spelled(where)} (did you mean {meant!r}?)"
            raise document.error(place, f"{problem}; {_AS_IT_IS}")


def _check_tensor(document: Document, value: dict[Any, Any], where: Where) -> None:
    unknown = [key for key in value if key not in TensorSpec.__struct_fields__]
    try:
        spec = decode(document, TensorSpec, where, value)
    except UsageError as error:
        if not unknown:
            raise
        raise UsageError(f"{error}; {_AS_IT_IS}") from None
    problem = problem_with(spec)
    if problem:
        colon = ":" if problem.startswith("'") else ""  # The problem is that of a key.
        raise document.error(where, f"{spelled(where)}{colon} {problem}")
