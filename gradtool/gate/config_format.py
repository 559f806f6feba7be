"""The format of ``gradtool.yaml`` as typed structs: the one description of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

Tolerance = Annotated[float, msgspec.Meta(ge=0)]


class CaseConfig(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One case of a Function: its arguments, as plain values of the file."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    name: str | None = None
    atol: Tolerance | None = None
    rtol: Tolerance | None = None


class FunctionConfig(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a file says about one Function."""

    cases: tuple[CaseConfig, ...] = ()
    atol: Tolerance | None = None
    rtol: Tolerance | None = None
    ignore: dict[str, str] = {}
    """Rule code, or prefix, to the reason for not asking it."""


class Defaults(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The section ``check``: each key has a flag of the same name that overrides it."""

    seed: Annotated[int, msgspec.Meta(ge=0)] | None = None
    device: str | None = None
    engine: Literal["bundled", "torch"] | None = None
    timeout: Annotated[float, msgspec.Meta(gt=0)] | None = None
    memory_limit: str | None = None
    exclude: tuple[str, ...] = ()
    atol: Tolerance | None = None
    rtol: Tolerance | None = None
    dtype: Literal["float32", "float64"] | None = None
    strict: bool | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


class File(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file."""

    version: Literal[1]
    check: Defaults = Defaults()
    functions: dict[str, FunctionConfig] = {}
