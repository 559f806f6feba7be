"""The work of a run, cut into pieces of plain data that any process can do.

A `Discovery` says which Functions a module has; a `Unit` checks one of them. What either is
answered with is plain data as well.
"""

from __future__ import annotations

import msgspec

from gradtool.config.entries import Entry
from gradtool.config.schema import CaseConfig, ModuleConfig
from gradtool.config.settings import Settings
from gradtool.results.report import CheckResult, FunctionResult


class Discovery(msgspec.Struct, frozen=True, kw_only=True):
    """A request for the Functions of one module."""

    path: str
    shown: str
    digest: str = ""
    """SHA-256 of the source; empty where it is not known."""
    named: bool = True
    """The file was named itself, not met on a walk: then it is imported in any case."""
    functions: tuple[str, ...] = ()
    """Requested names."""
    whole: bool = True
    """All that the module defines are requested too."""
    configured: tuple[str, ...] = ()
    """Names that the configuration describes: modules and callables among them are included."""
    settings: Settings
    """Those of the module; each Function may have its own."""


class DiscoveryResult(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a `Discovery`."""

    functions: tuple[str, ...] = ()
    """In the order of the source, or in the order requested."""
    lines: tuple[int | None, ...] = ()
    """Where each is defined."""
    problem: CheckResult | None = None
    """Why the module could not be loaded, or not as a whole."""
    sliced: bool = False
    """The import of the whole takes too long: only a part is to be imported."""
    notes: tuple[str, ...] = ()
    """What was replaced in it by a stand-in."""
    imported: tuple[str, ...] = ()
    """Local files that were imported with it, as Python found them."""


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """One Function of one module: the unit of work.

    It is plain data and all there is to know, so that another process can do the work.
    """

    path: str
    shown: str
    digest: str = ""
    """SHA-256 of the source; empty where it is not known."""
    function: str
    line: int | None = None
    """Where it is defined."""
    settings: Settings
    cases: tuple[CaseConfig, ...] = ()
    """Those of the configuration; without any, the other sources are used."""
    module: ModuleConfig | None = None
    """How to make it, where it is an ``nn.Module``."""
    entry: Entry | None = None
    """The place where the configuration describes it."""
    sliced: bool = False
    """Import only the part of the module that its Functions need."""
    only: tuple[str, ...] = ()
    """Names of the requested cases; empty for all."""
    keyword: str | None = None
    """``-k``: only cases whose node ids match."""

    @property
    def node(self) -> str:
        """``path/mod.py::Function``."""
        return f"{self.shown}::{self.function}"


class UnitResult(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a `Unit`."""

    function: FunctionResult
    cases: tuple[CaseConfig | None, ...] = ()
    """Its cases as a configuration writes them; None for one that holds tensors already."""
    deselected: int = 0
    """Cases that the keyword did not match."""
    unwanted: bool = False
    """The keyword matched nothing of the Function."""
