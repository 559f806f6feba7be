"""Narrowing a run to files that changed and to the Functions of ``--lf``.

What they leave out is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from gradtool.collect.changes import affected_by, changed_since
from gradtool.collect.targets import Target
from gradtool.config.files import Configs
from gradtool.config.options import SelectionOptions
from gradtool.results.paths import split_path


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
        self.passed_over: list[str] = []
        """Phrases that name what was left out."""
        self.notices: list[str] = []
        self.is_unchanged = False
        """Modules were left out because they did not change."""
        self._failed = frozenset(options.only_failed or ())
        if options.changed_since is not None:
            self._keep_changed(options.changed_since, configs)
        if options.changed_files is not None:
            files = frozenset(map(Path, options.changed_files))
            self.targets = affected_by(files, self.targets, configs)
            self.is_unchanged = True
        if options.only_failed is not None:
            self._keep_failed()

    def select(self, path: str, names: Iterable[str]) -> list[str]:
        """Select from the Functions `names` of the file shown as `path`."""
        found = list(names)
        if path in self._failed:
            return found
        # Without a match, the Functions that failed have been renamed: check all.
        return [name for name in found if f"{path}::{name}" in self._failed] or found

    def _keep_changed(self, ref: str, configs: Configs) -> None:
        kept = changed_since(self.targets, ref, configs)
        left_out = len(self.targets) - len(kept)
        if left_out:
            modules = f"{left_out} module{'s' if left_out > 1 else ''}"
            self.passed_over.append(f"{modules} unchanged since {ref}")
            self.is_unchanged = True
        if left_out and not kept:
            self.notices.append(f"nothing to check: no module changed since {ref}")
        self.targets = kept

    def _keep_failed(self) -> None:
        modules = {split_path(node)[0] for node in self._failed}
        kept = [target for target in self.targets if target.shown in modules]
        if kept:
            self.targets = kept
            self.passed_over.append("Functions that did not fail in the last run")
        else:
            self.notices.append("--lf: the last run recorded no failures, so everything is checked")
            self._failed = frozenset()
