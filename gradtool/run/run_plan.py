"""Plan a run: from options and configurations to discoveries, and from these to units.

Nothing of the user's is imported here, and nothing that computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from gradtool.adapters.engines import TORCH
from gradtool.checking.unit import Discovery, DiscoveryResult, Unit
from gradtool.checking.validate import require_valid
from gradtool.collect.filters import parse_keyword, parse_shard, shard_of
from gradtool.collect.loader import dotted_name
from gradtool.collect.selection import Selection
from gradtool.collect.targets import Target, find_targets, similar_path
from gradtool.config.entries import entry_of
from gradtool.config.files import Config, Configs
from gradtool.config.options import CheckOptions, SelectionOptions
from gradtool.config.schema import FunctionConfig
from gradtool.config.settings import Settings, settings_for
from gradtool.errors import UsageError
from gradtool.policy.ignores import Comments
from gradtool.results.paths import real_path
from gradtool.results.report import CheckResult, Shard
from gradtool.spelling import did_you_mean, nearest


class Module(msgspec.Struct):
    """A file of a run: why it could not be loaded, or what is to be checked of it."""

    shown: str
    settings: Settings
    path: Path = msgspec.field(default_factory=Path)
    digest: str = ""
    """SHA-256 of its source as it was read before the run; empty if it could not be read."""
    problem: CheckResult | None = None
    units: list[Unit] = []


class RunPlan:
    """The files of a run with their configurations.

    Raises:
        UsageError: The options, a configuration or a path is wrong.
    """

    def __init__(self, options: CheckOptions) -> None:
        require_valid(options)
        if options.selection.keyword is not None:
            parse_keyword(options.selection.keyword)
        self._shard = options.selection.shard and parse_shard(options.selection.shard)
        selection = options.selection
        self.notices = Notices(selection.keyword)
        self.nodes: list[str] = []
        """Everything there is to check in the whole run, in any shard."""
        self._options = options
        self._configs = Configs(options.config, selection.exclude)
        found = find_targets(self._paths(selection), self._configs.excludes)
        self.notices.walked(selection, found, self._configs)
        self.selection = Selection(found, selection, self._configs)
        """The files that the options select."""
        self._targets = self.selection.targets
        self.comments = Comments()
        self._digests = {
            target.shown: self.comments.require_valid(target.path, target.shown)
            for target in self._targets
        }
        # Without a target the run still has an environment to report, by default settings.
        self._used = [self._configs.nearest(t.path) for t in self._targets] or [Config()]
        for config in self._used:
            _require_files(config)
        self._settings = [self._settings_of(config) for config in self._used]

    def _paths(self, selection: SelectionOptions) -> tuple[str, ...]:
        """The paths that were named, and the modules of the packages that were."""
        if not selection.packages:
            return selection.paths
        from gradtool.collect.packages import modules_of_package  # Loads the mail parser.

        modules = [file for name in selection.packages for file in modules_of_package(name)]
        shown = (str(file) for file in modules if not self._configs.excludes(file))
        return (*selection.paths, *shown)

    @property
    def settings(self) -> Settings:
        """The settings of the first module, whose seed and device stand for the run's."""
        return self._settings[0]

    @property
    def strict(self) -> bool:
        """Warnings fail the run too."""
        strict = self._options.strict
        return any(config.check.strict for config in self._used) if strict is None else strict

    @property
    def configs(self) -> tuple[str, ...]:
        """Configuration files that were read, as reports show them."""
        return self._configs.read()

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that are asked for of the bundled engine, each once."""
        own = [settings.device for settings in self._settings if settings.engine != TORCH]
        # Not a set: messages name the first missing device in the order of the files.
        return tuple(dict.fromkeys(own))

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that are asked for, each once."""
        return tuple(dict.fromkeys(settings.engine for settings in self._settings))

    def folders(self) -> list[Path]:
        """The folders with what the run depends on: none of them lies in another.

        Those that were named, those in which the imports of the modules start, and those of the
        configurations.
        """
        named = [real_path(Path(path)) for path in self._options.selection.paths]
        roots = [dotted_name(real_path(target.path))[0] for target in self._targets]
        configs = [config.path.parent for config in self._used if config.path is not None]
        found = {*filter(Path.is_dir, named), *roots, *configs}
        return sorted(f for f in found if not any(other in f.parents for other in found))

    def discoveries(self) -> list[Discovery]:
        """One for each file."""
        return [
            Discovery(
                path=str(target.path.absolute()),
                shown=target.shown,
                digest=self._digests[target.shown],
                named=target.named,
                functions=tuple(target.functions),
                whole=target.whole,
                configured=config.described(target.path),
                settings=settings,
            )
            for target, config, settings in zip(
                self._targets, self._used, self._settings, strict=False
            )
        ]

    def modules(self, discovered: Sequence[DiscoveryResult]) -> list[Module]:
        """The modules to check, given the results of all discoveries."""
        rows = zip(self._targets, self._used, self._settings, discovered, strict=False)
        modules = [self._module(*row) for row in rows]
        self.notices.require_matches()
        return [module for module in modules if module is not None]

    def shard(self, unmatched: Sequence[str]) -> Shard | None:
        """The part of the run that this one is; None when it is the whole.

        Args:
            unmatched: Its Functions of which ``-k`` matched nothing.
        """
        if not self._shard:
            return None
        number, count = self._shard
        return Shard(
            number=number, count=count, nodes=tuple(self.nodes), unmatched=tuple(unmatched)
        )

    def _module(
        self, target: Target, config: Config, settings: Settings, answer: DiscoveryResult
    ) -> Module | None:
        if not self.selection.takes(target, answer.imported):
            return None
        module = Module(target.shown, settings, target.path, self._digests[target.shown])
        if answer.problem is not None:
            module.problem = answer.problem if self._is_ours(target.shown) else None
            if not answer.functions:
                return module if module.problem else None
        if not answer.functions:
            self.notices.passed_over(target)
        self.notices.discovered(target, config, answer)
        lines = dict(zip(answer.functions, answer.lines, strict=True))
        names = self.selection.select(target.shown, answer.functions)
        units = [self._unit(target, config, name, lines[name], answer.sliced) for name in names]
        self.notices.replaced(answer.notes)
        module.units = [unit for unit in units if self._is_ours(unit.node)]
        # A file that was named is reported even if it is empty; one met on a walk is only counted.
        is_empty = target.named and not answer.functions
        return module if module.units or module.problem or is_empty else None

    def _unit(
        self, target: Target, config: Config, name: str, line: int | None, sliced: bool
    ) -> Unit:
        configured = config.function(target.path, name)
        return Unit(
            path=str(target.path.absolute()),
            shown=target.shown,
            digest=self._digests[target.shown],
            function=name,
            line=line,
            settings=self._settings_of(config, configured),
            cases=configured.cases,
            entry=entry_of(config, target.path, name),
            module=configured.module,
            sliced=sliced,
            only=() if target.whole else tuple(sorted(target.functions.get(name, ()))),
            keyword=self._options.selection.keyword,
        )

    def _settings_of(self, config: Config, configured: FunctionConfig | None = None) -> Settings:
        return settings_for(self._options, config.check, configured or FunctionConfig())

    def _is_ours(self, node: str) -> bool:
        """Note a node; return True if it belongs to this shard."""
        self.nodes.append(node)
        if not self._shard:
            return True
        number, count = self._shard
        return shard_of(node, count) == number


def _require_files(config: Config) -> None:
    """Refuse a configuration for a file that does not exist.

    Raises:
        UsageError: A key names such a file.
    """
    for key in config.functions:
        path, separator, _ = key.rpartition("::")
        if separator and not (config.folder / path).exists():
            place = config.document.place(("functions", key))
            near = similar_path(config.folder / path)
            raise UsageError(f"{place}: {path} does not exist{near}")


_MAX_LISTED = 3
"""Files without a Function that are named; more are only counted."""


class _Names(msgspec.Struct):
    """The Functions of all files that a configuration is for."""

    config: Config
    defined: set[str] = set()
    is_complete: bool = True
    """Every file could be imported."""


class Notices:
    """Collects lines about the run itself: files without a Function, words that match nothing."""

    def __init__(self, keyword: str | None) -> None:
        self._keyword = keyword
        self._walked: list[str] = []
        self._empty: list[str] = []
        self._named: list[str] = []
        self._configured: dict[str, None] = {}
        self._replaced: dict[str, None] = {}
        self._mistakes: list[str] = []
        self._whole: list[Path] = []
        self._names: dict[Path, _Names] = {}

    def walked(
        self, selection: SelectionOptions, found: Sequence[Target], configs: Configs
    ) -> None:
        """Note folders without a Python file, and patterns of ``--exclude`` that match nothing."""
        files = [real_path(target.path) for target in found]
        folders = {path: real_path(Path(path)) for path in selection.paths if Path(path).is_dir()}
        for path, folder in folders.items():
            if not any(file.is_relative_to(folder) for file in files):
                self._empty.append(f"{path} contains no Python files to check")
        if not selection.exclude and selection.changed_since is None:
            self._whole = list(folders.values())
        self._empty += [f"--exclude {each!r} matched nothing" for each in configs.unmatched]

    def passed_over(self, target: Target) -> None:
        """Note a file that has no Function."""
        if target.named:
            self._named.append(f"{target.shown} defines no Function")
        else:
            self._walked.append(target.shown)

    def replaced(self, notes: Sequence[str]) -> None:
        """Note what could not be imported, where a stand-in takes its place."""
        self._replaced.update(dict.fromkeys(notes))

    def discovered(self, target: Target, config: Config, answer: DiscoveryResult) -> None:
        """Note keys of the configuration that name no Function of a file.

        A key with a path is wrong wherever its file was looked through as a whole. One without
        may be for another file: it is noted if it looks like a misspelt name.
        """
        names = answer.functions
        if config.path is not None:
            known = self._names.setdefault(config.path, _Names(config))
            known.defined.update(names)
            known.is_complete &= answer.problem is None
        whole = target.whole and answer.problem is None
        for key in config.functions:
            path, _, name = key.rpartition("::")
            here = not path or real_path(config.folder / path) == real_path(target.path)
            if not here or name in names:
                continue
            meant = nearest(name, names)
            if path and whole:
                place = config.document.place(("functions", key))
                line = f"{place}: {target.shown} has no Function {name!r}"
                self._mistakes.append(line + did_you_mean(name, names))
            elif meant and meant not in config.functions:
                place = config.document.place(("functions", key))
                self._configured[
                    f"{place}: no Function {name!r} in {target.shown} (did you mean {meant!r}?)"
                ] = None

    def require_matches(self) -> None:
        """Refuse a configuration for Functions that do not exist.

        Raises:
            UsageError: A key names no Function of its file, or is a misspelt name.
        """
        for known in self._names.values():
            if any(known.config.folder.is_relative_to(folder) for folder in self._whole):
                self._unmatched(known)
        if self._mistakes:
            raise UsageError(self._mistakes[0])

    def _unmatched(self, known: _Names) -> None:
        """Note keys without a path that match nothing in the whole folder of their file."""
        if not known.is_complete or known.config.check.exclude:
            return
        for key in known.config.functions:
            if "::" not in key and key not in known.defined:
                place = known.config.document.place(("functions", key))
                near = did_you_mean(key, known.defined.difference(known.config.functions))
                line = f"{place}: no file has a Function {key!r}{near}"
                self._mistakes += [line] if near else []
                self._configured[line] = None

    def lines(self, modules: Sequence[Any]) -> tuple[str, ...]:
        """List all notices; `modules` are those with something to check."""
        found = [*self._empty, *self._replaced, *self._named, *self._of_walk(), *self._configured]
        if self._keyword is not None and not any(module.functions for module in modules):
            found.append(f"-k {self._keyword!r} matched no case")
        return tuple(found)

    def _of_walk(self) -> list[str]:
        if len(self._walked) > _MAX_LISTED:
            return [f"{len(self._walked)} modules define no Function and were skipped"]
        return [f"{shown} defines no Function and was skipped" for shown in self._walked]
