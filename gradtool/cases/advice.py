"""Advice on how to give a Function a case where none was found."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from gradtool.adapters.library import library
from gradtool.cases.inference.calls.unpacked import unpacked
from gradtool.cases.inference.search import SearchResult, Wanted
from gradtool.cases.inference.stand_ins import is_stand_in
from gradtool.cases.preparation import integers, prepared_by, required
from gradtool.cases.skeletons import object_code
from gradtool.cases.written import is_serializable, one_line_snippet
from gradtool.collect.checkable import Checkable
from gradtool.config.schema import CaseConfig

_KEYWORD_REFUSED = re.compile(r"unexpected keyword argument '(\w+)'")

_NOT_SPARSE = re.compile(r"expected sparse (coordinate |row |column )?[\w ]*tensor layout")
_TO_SPARSE = {"coordinate ": "to_sparse()", "column ": "to_sparse_csc()"}
"""The refusal of a dense tensor, and the method that makes it one of the layout."""

_MOST_ENTRIES = 4
"""Entries of a floating-point array that are written out."""


def how_to_give_a_case(checkable: Checkable, search: SearchResult) -> str | None:
    """Say what to add, given the likeliest arguments, which forward refused.

    Returns None if there are no such arguments.
    """
    likeliest = search.likeliest
    if likeliest is None:
        return None
    if refused := _KEYWORD_REFUSED.search(search.objection):
        name = refused[1]
        if name in [each.name for each in checkable.parameters() if each.kind is each.KEYWORD_ONLY]:
            return f"make `{name}` a positional parameter: apply takes no keyword-only arguments"
    if sparse := _NOT_SPARSE.search(search.objection):
        method = _TO_SPARSE.get(sparse[1], "to_sparse_csr()")
        return (
            "one of the tensors has to be sparse: make it in a static method sample_inputs, as "
            f"with torch.eye(3, dtype=torch.float64).{method}"
        )
    given = dict(zip(_names(checkable, len(likeliest.args)), likeliest.args, strict=False))
    objects = {**_made_by_code(given), **search.objects}
    settled = {name for name, value in given.items() if value is None or type(value) is list}
    objects = {name: each for name, each in objects.items() if name not in settled}
    if objects and checkable.is_function:
        return _skeleton(checkable, given, objects)
    values = {name: _in_code(value) for name, value in given.items()}
    shapes = (list(spec["shape"]) for spec in likeliest.args if _is_drawn(spec))
    extent = next((shape[-1] for shape in shapes if shape), None)
    prepared = _call_before(checkable.obj, search.objection, values, extent)
    if prepared and checkable.is_function:
        return _prepared(checkable, prepared, list(values.values()))
    if is_serializable(likeliest):
        return (
            "add a case in gradtool.yaml, under functions, starting from this one, which "
            f"{_rejected(search)}:\n{one_line_snippet(checkable.name, _brief(likeliest))}"
        )
    return (
        "add a static method sample_inputs, which can create objects as arguments, or record "
        "cases with gradtool record"
    )


def _rejected(search: SearchResult) -> str:
    """Say what speaks against the likeliest arguments."""
    if search.doubt is None:
        return "forward rejects"
    return "backward rejects" if search.doubt.startswith("backward") else "shows nothing"


def _names(checkable: Checkable, count: int) -> list[str]:
    """The names of `count` arguments; those in place of ``*args`` that have none are numbered."""
    parameters, _ = unpacked(checkable.obj, checkable.parameters())
    names: list[str] = []
    for parameter in parameters:
        starred = parameter.kind is parameter.VAR_POSITIONAL
        more = range(count - len(parameters) + 1) if starred else ()
        names += [f"{parameter.name}_{at}" for at in more] if starred else [parameter.name]
    return names


def _made_by_code(given: Mapping[str, Any]) -> dict[str, Wanted]:
    """The parameters whose likeliest value is an object of a class, with its kind."""
    return {
        name: Wanted(_kind(value["literal"]))
        for name, value in given.items()
        if isinstance(value, dict) and _code_of(value.get("literal")) is None
    }


def _kind(value: object) -> str:
    """The kind of an object: its class, unless it stands for one that is not known."""
    return "an object" if is_stand_in(value) else f"an object such as {type(value).__name__}"


def _code_of(value: Any) -> str | None:
    """The expression of a plain value, a dtype or a device; None for an object."""
    torch = library().torch
    if isinstance(value, torch.dtype):
        return str(value)
    if isinstance(value, torch.device):
        return f"torch.device({str(value)!r})"
    is_plain = isinstance(value, bool | int | float | str | list | tuple | dict | None)
    return repr(value) if is_plain else None


def _brief(case: CaseConfig) -> CaseConfig:
    """The case with long arrays of floats replaced by their shapes."""
    args = tuple(map(_by_shape, case.args))
    kwargs = {name: _by_shape(value) for name, value in case.kwargs.items()}
    return msgspec.structs.replace(case, args=args, kwargs=kwargs)


def _by_shape(value: Any) -> Any:
    if not isinstance(value, dict) or "values" not in value:
        return value
    entries = np.asarray(value["values"])
    if entries.dtype.kind != "f" or entries.size <= _MOST_ENTRIES:
        return value
    rest = {name: inner for name, inner in value.items() if name != "values"}
    return {"shape": list(entries.shape), **rest}


def _skeleton(checkable: Checkable, given: Mapping[str, Any], objects: Mapping[str, Wanted]) -> str:
    values = [name if name in objects else _in_code(value) for name, value in given.items()]
    wanted = " and ".join(f"`{name}`, {each.kind}," for name, each in objects.items())
    code = _sample_inputs(checkable, _objects_made(checkable, objects), values)
    return "\n".join([f"create {wanted} in a static method of {checkable.name}:", *code])


def _objects_made(checkable: Checkable, objects: Mapping[str, Wanted]) -> list[str]:
    """The lines of code that make objects, each import once."""
    by_name = {each.name: each for each in checkable.parameters()}
    namespace = getattr(inspect.unwrap(checkable.obj.forward), "__globals__", {})
    made = [
        line
        for name, wanted in objects.items()
        for line in object_code(by_name.get(name, _PLAIN.replace(name=name)), wanted, namespace)
    ]
    imports = dict.fromkeys(line for line in made if line.startswith("from "))
    return [*imports, *(line for line in made if line not in imports)]


_PLAIN = inspect.Parameter("_", inspect.Parameter.POSITIONAL_ONLY)


def _is_drawn(value: Any) -> bool:
    return isinstance(value, dict) and "shape" in value


def _call_before(
    function: Any, objection: str, values: Mapping[str, str], extent: int | None
) -> list[str]:
    """The lines of code that import and call what an objection asks to call first.

    Args:
        function: The Function that objects.
        objection: Its message.
        values: The code of its arguments by name, which the call shares.
        extent: The last extent of its first tensor, for an integer that it does not share.
    """
    named = next(iter(prepared_by(function, objection)), None)
    if named is None:
        return []
    start = {name: str(extent) for name in integers(named) if extent is not None}
    code = {**start, **values}
    given = ", ".join(f"{name}={code.get(name, '...')}" for name in required(named))
    return [
        f"from {named.__module__} import {named.__name__}",
        f"{named.__name__}({given})",
    ]


def _prepared(checkable: Checkable, calls: list[str], values: list[str]) -> str:
    """Say where the calls belong that have to come before the Function."""
    code = _sample_inputs(checkable, calls, values)
    said = f"call what the message asks for in a static method of {checkable.name}:"
    return "\n".join([said, *code])


def _sample_inputs(checkable: Checkable, before: list[str], values: list[str]) -> list[str]:
    """The lines of a static method that yields the code of a case, after other statements."""
    return [
        "@staticmethod",
        "def sample_inputs():",
        *([] if _has_torch(checkable) else ["    import torch"]),
        *(f"    {statement}" for statement in before),
        f"    yield {', '.join(values)}{',' * (len(values) == 1)}",
    ]


def _has_torch(checkable: Checkable) -> bool:
    """Return True if the module of a Function knows ``torch`` by this name."""
    forward = inspect.unwrap(checkable.obj.forward)
    return "torch" in getattr(forward, "__globals__", {})


def _in_code(value: Any) -> str:
    """The expression of an argument; a tensor is drawn by its shape."""
    if isinstance(value, dict) and "literal" in value:
        return str(_code_of(value["literal"]))
    if isinstance(value, list):
        return f"[{', '.join(map(_in_code, value))}]"
    if isinstance(value, dict) and "values" in value:
        return f"torch.tensor({value['values']!r})"
    if not isinstance(value, dict) or "shape" not in value:
        return repr(value)
    shape = ", ".join(map(str, value["shape"])) or "()"
    dtype = value.get("dtype", "float64")
    if not dtype.startswith(("float", "complex")):
        return f"torch.zeros({shape}, dtype=torch.{dtype})"
    gradient = "" if value.get("requires_grad") is False else ", requires_grad=True"
    return f"torch.randn({shape}, dtype=torch.{dtype}{gradient})"
