"""The format of ``gradtool.yaml`` as typed structs, its only description."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

import msgspec

Tolerance = Annotated[float, msgspec.Meta(ge=0)]


class CaseConfig(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One case of a Function: its arguments, as plain values of the file."""

    args: tuple[Any, ...] = ()
    """Positional arguments: a mapping with `shape` or `values` is a tensor, `{literal: ...}` stands
    for its content, and any other value is passed unchanged."""
    kwargs: dict[str, Any] = {}
    """Arguments by name, written like those of `args`."""
    name: str | None = None
    """Name in node ids and reports; a case without one is numbered."""
    atol: Tolerance | None = None
    """Absolute tolerance of this case."""
    rtol: Tolerance | None = None
    """Relative tolerance of this case."""
    reason: str | None = None
    """Reason for the tolerance; by default that of the Function."""
    expires: date | None = None
    """The expiry date of its tolerance, such as `2027-01-31`; after that day, GT512 fails the
    run."""


def case_name(case: CaseConfig, number: int) -> str:
    """The name of a case, which is the `number`-th of its Function."""
    return f"case{number}" if case.name is None else case.name


class ModuleConfig(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Construction of an ``nn.Module``, whose inputs and parameters are checked."""

    args: tuple[Any, ...] = ()
    """Positional arguments of its constructor, written like those of a case."""
    kwargs: dict[str, Any] = {}
    """Arguments of its constructor by name."""
    mode: Literal["train", "eval"] = "train"
    """Training or evaluation mode."""


class FunctionConfig(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Configuration of one Function."""

    cases: tuple[CaseConfig, ...] = ()
    """Its cases. Without this key, they come from `sample_inputs` or inference."""
    module: ModuleConfig | None = None
    """How to construct an `nn.Module`; by default, with its constructor's default arguments."""
    atol: Tolerance | None = None
    """Absolute tolerance of each of its cases."""
    rtol: Tolerance | None = None
    """Relative tolerance of each of its cases."""
    reason: str | None = None
    """Reason for the tolerance or the surrogate gradient, shown in reports."""
    expires: date | None = None
    """The expiry date of the tolerance, such as `2027-01-31`; after that day, GT512 fails the
    run."""
    surrogate: tuple[str, ...] = ()
    """Arguments of `forward` whose gradient differs from the derivative on purpose. The two are not
    compared. Requires a `reason`."""
    surrogate_of: str | None = None
    """A function in the module, with the same argument names, whose derivative these gradients
    should equal."""
    ignore: dict[str, str] = {}
    """Rules to skip: a code, name or family for each, with a reason."""


class Defaults(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The section ``check``: each key has a flag of the same name that overrides it."""

    seed: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """Seed for random arguments, combined with the name of the case."""
    device: str | None = None
    """Device to run on: `cpu` or `cuda`."""
    engine: Literal["bundled", "torch", "both"] | None = None
    """Engine behind `import torch`: gradtool's own, the installed PyTorch, or both in turn."""
    timeout: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """Time limit for each Function, in seconds."""
    memory_limit: str | None = None
    """Additional memory that each Function may use, such as `512MiB`; `none` for no limit.
    CPU only."""
    exclude: tuple[str, ...] = ()
    """Paths to skip when searching folders; `*` and `?` are wildcards. A pattern without a slash
    matches a name at any depth; one with a slash is relative to the file."""
    atol: Tolerance | None = None
    """Absolute tolerance; by default it follows the dtype and the error of the numeric
    derivative."""
    rtol: Tolerance | None = None
    """Relative tolerance, with the same default."""
    witness: bool | None = None
    """Also differentiate the recorded forward step by step; `false`: rely
    on evaluations alone."""
    explore: Literal["off", "quick", "deep"] | None = None
    """How hard to search for arguments that a Function gets wrong."""
    dtype: Literal["float32", "float64"] | None = None
    """Dtype of floating-point tensors that do not give one."""
    strict: bool | None = None
    """Treat warnings as failures."""
    select: tuple[str, ...] = ()
    """Check only these rules, given by code, name or family."""
    ignore: tuple[str, ...] = ()
    """Skip these rules. For a single Function, list them under `functions` instead, with a
    reason."""


class File(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file."""

    version: Literal[1]
    """The version of the format. Required."""
    check: Defaults = Defaults()
    """Defaults for every Function. Each key has an option of the same name, which overrides it."""
    functions: dict[str, FunctionConfig] = {}
    """Configuration of each Function. A key is its name, or `file.py::Name` if several files define
    that name; the path is relative to the folder of this file."""
