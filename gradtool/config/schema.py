"""The format of ``gradtool.yaml`` as typed structs: the one description of it."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

import msgspec

Tolerance = Annotated[float, msgspec.Meta(ge=0)]


class CaseConfig(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One case of a Function: its arguments, as plain values of the file."""

    args: tuple[Any, ...] = ()
    """Positional arguments: a mapping with `shape` or `values` is a tensor, `{literal: ...}` stands
    for what is in it, and any other value is passed as it is."""
    kwargs: dict[str, Any] = {}
    """Arguments by name, written like those of `args`."""
    name: str | None = None
    """Name in node ids and reports; numbered when it is left out."""
    atol: Tolerance | None = None
    """Absolute tolerance of this case."""
    rtol: Tolerance | None = None
    """Relative tolerance of this case."""
    reason: str | None = None
    """Why its tolerance is needed; unset: that of the Function's."""
    expires: date | None = None
    """The last day of its tolerance, such as `2027-01-31`; after it, GT512 fails."""


class ModuleConfig(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How an ``nn.Module`` is made, whose inputs and parameters are checked."""

    args: tuple[Any, ...] = ()
    """Positional arguments of its constructor, written like those of a case."""
    kwargs: dict[str, Any] = {}
    """Arguments of its constructor by name."""
    mode: Literal["train", "eval"] = "train"
    """Whether it computes as in training or as in evaluation."""


class FunctionConfig(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a file says about one Function."""

    cases: tuple[CaseConfig, ...] = ()
    """What to call it with. Without cases, `sample_inputs` or inference provide them."""
    module: ModuleConfig | None = None
    """How to make it, where it is an `nn.Module`; without this, by its constructor's defaults."""
    atol: Tolerance | None = None
    """Absolute tolerance of each of its cases."""
    rtol: Tolerance | None = None
    """Relative tolerance of each of its cases."""
    reason: str | None = None
    """Why the tolerance is needed, as reports tell it."""
    expires: date | None = None
    """The last day of the tolerance, such as `2027-01-31`; after it, GT512 fails."""
    ignore: dict[str, str] = {}
    """Rules that are not asked: each by its code, or the start of one, with the reason why."""


class Defaults(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The section ``check``: each key has a flag of the same name that overrides it."""

    seed: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """Random arguments are drawn from this and the name of the case."""
    device: str | None = None
    """Where to run: `cpu` or `cuda`."""
    engine: Literal["bundled", "torch", "both"] | None = None
    """What `import torch` gives: the engine of gradtool, or the PyTorch that is installed."""
    timeout: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """Seconds that one Function may take."""
    memory_limit: str | None = None
    """What one Function may take beyond what its process uses: `512MiB`, or `none`. CPU only."""
    exclude: tuple[str, ...] = ()
    """Paths left out when a folder is walked; `*` and `?` are allowed. One without a slash is a
    name at any depth, one with a slash is relative to the file."""
    atol: Tolerance | None = None
    """Absolute tolerance, in place of one fitted to the dtype and to the error of the numeric
    derivative."""
    rtol: Tolerance | None = None
    """Relative tolerance, likewise."""
    dtype: Literal["float32", "float64"] | None = None
    """Of floating tensors that name no dtype."""
    strict: bool | None = None
    """Let warnings fail the run too."""
    select: tuple[str, ...] = ()
    """Only these rules, by code or the start of one."""
    ignore: tuple[str, ...] = ()
    """Leave these rules out. For one Function, give a reason under `functions` instead."""


class File(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file."""

    version: Literal[1]
    """The version of the format. Required."""
    check: Defaults = Defaults()
    """Defaults for every Function. Each key has an option of the same name, which overrides it."""
    functions: dict[str, FunctionConfig] = {}
    """What to call each Function with. A key is its name, or `file.py::Name` where a name occurs in
    several files; the file is looked for from the folder of this one."""
