"""Narrowing a run to files that changed and to the Functions of ``--lf``.

A module may import what its source does not name, so all are imported before the unchanged are left
out. What is left out is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from gradtool.collect.changes import affected_by, changed_since
from gradtool.collect.targets import Target
from gradtool.config.files import Configs
from gradtool.config.options import SelectionOptions
from gradtool.results.paths import real_path, split_path


class Selection:
    """The part of `targets` that `options` select.

    Raises:
        UsageError: Git cannot list the changes.
    """

    def __init__(
        self, targets: Sequence[Target], options: SelectionOptions, configs: Configs
    ) -> None:
        self.targets = list(targets)
        for target in self.targets:
            target.named &= not options.allow_empty or bool(target.functions)
        self._passed_over: list[str] = []
        self._notices: list[str] = []
        self._changed = frozenset[Path]()
        self._unchanged: set[str] = set()
        """Modules that no change affects, as far as their source shows."""
        self._left_out = 0
        self._ref = options.changed_since
        self._is_narrowed = options.changed_files is not None
        self._failed = frozenset(options.only_failed or ())
        if options.changed_since is not None:
            self._mark_unchanged(options.changed_since, configs)
        if options.changed_files is not None:
            files = frozenset(map(Path, options.changed_files))
            self.targets = affected_by(files, self.targets, configs)
        if options.only_failed is not None:
            self._keep_failed()

    @property
    def is_unchanged(self) -> bool:
        """Modules were left out because they did not change."""
        return self._is_narrowed or self._left_out > 0

    @property
    def passed_over(self) -> tuple[str, ...]:
        """Phrases for the modules and Functions that were left out."""
        count = self._left_out
        modules = f"{count} module{'s' if count > 1 else ''} unchanged since {self._ref}"
        return (*([modules] if count else []), *self._passed_over)

    @property
    def notices(self) -> tuple[str, ...]:
        """Lines about the selection."""
        nothing = f"nothing to check: no module changed since {self._ref}"
        is_all = 0 < self._left_out == len(self.targets)
        return (*([nothing] if is_all else []), *self._notices)

    def takes(self, target: Target, imported: Iterable[str]) -> bool:
        """Return True unless no change affects a module, which imported these files."""
        if target.shown not in self._unchanged:
            return True
        if not self._changed.isdisjoint(real_path(Path(file)) for file in imported):
            return True
        self._left_out += 1
        return False

    def select(self, path: str, names: Iterable[str]) -> list[str]:
        """Select from the Functions `names` of the file shown as `path`."""
        found = list(names)
        if path in self._failed:
            return found
        # Without a match, the Functions that failed have been renamed: check all.
        return [name for name in found if f"{path}::{name}" in self._failed] or found

    def _mark_unchanged(self, ref: str, configs: Configs) -> None:
        changed = changed_since(self.targets, ref)
        self._changed = frozenset[Path]().union(*changed.values())
        affected = affected_by(self._changed, self.targets, configs, tuple(changed))
        self._unchanged = {t.shown for t in self.targets} - {t.shown for t in affected}

    def _keep_failed(self) -> None:
        modules = {split_path(node)[0] for node in self._failed}
        kept = [target for target in self.targets if target.shown in modules]
        if kept:
            self.targets = kept
            self._passed_over.append("Functions that did not fail in the last run")
        else:
            self._notices.append(
                "--lf: the last run recorded no failures, so everything is checked"
            )
            self._failed = frozenset()
