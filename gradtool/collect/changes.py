"""``--changed-since``: which files of a run a change since a commit can concern."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from gradtool.collect.git import changed_files, repository
from gradtool.collect.loader import dotted_name
from gradtool.collect.local_imports import LocalImports
from gradtool.collect.targets import Target
from gradtool.config.files import Configs
from gradtool.results.paths import real_path


def concerned(targets: Sequence[Target], ref: str, configs: Configs) -> list[Target]:
    """Those of `targets` that changed since `ref`, or import a local file that did.

    A module is concerned as well when the configuration that applies to it changed.

    Raises:
        UsageError: Git does not know.
    """
    tops = {folder: repository(folder) for folder in {t.path.absolute().parent for t in targets}}
    if not targets:  # The reference must be right all the same.
        tops = {Path.cwd(): repository(Path.cwd())}
    changed = {top: changed_files(top, ref) for top in sorted(set(tops.values()))}
    everything = frozenset[Path]().union(*changed.values())
    imports = LocalImports(tuple(_roots(targets, tuple(changed))))
    return [
        target
        for target in targets
        if not everything.isdisjoint(_sources(real_path(target.path), configs, imports))
    ]


def _sources(path: Path, configs: Configs, imports: LocalImports) -> Iterator[Path]:
    """The files that what is found out about the module at `path` depends on."""
    yield from imports.reached(path)
    config = configs.nearest(path)
    if config.path is not None:
        yield config.path


def _roots(targets: Sequence[Target], tops: Sequence[Path]) -> Iterator[Path]:
    """Where local imports may start: where modules of the run do, and as repositories do."""
    yield from dict.fromkeys(dotted_name(real_path(target.path))[0] for target in targets)
    for top in tops:
        yield from (top, top / "src")
