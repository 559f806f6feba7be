"""Tries the mutants of the right Functions: ``python -m tests.mutation --seed 0 --jobs 2``.

A run over all Functions writes ``docs/mutation.md``. It fails when a wrong mutant survives
without a reason in ``survivors.py``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from statistics import median

from tests.mutation import page, work
from tests.mutation.survivors import EXPLAINED
from tests.mutation.trial import Trial, Tried


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, say what came of it, and write the page after a run over all Functions."""
    asked = _parsed(arguments)
    started = time.perf_counter()
    tried = []
    for each in work.run(
        seed=asked.seed, share=asked.share, only=asked.only, jobs=asked.jobs, alarms=asked.alarms
    ):
        tried.append(each)
        _progress(each)
    if not asked.only:
        page.write(tried, asked.seed, asked.share)
    return _summary(tried, time.perf_counter() - started)


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.mutation", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="processes to use")
    parser.add_argument("--share", type=float, default=1.0, help="part of the mutants to try")
    parser.add_argument("--only", default="", help="part of the ids of the Functions to take")
    parser.add_argument(
        "--alarms", action="store_true", help="show what is found of equivalent mutants"
    )
    return parser.parse_args(arguments)


def _progress(tried: Tried) -> None:
    wrong = sum(trial.is_wrong for trial in tried.trials)
    print(f"{tried.original}: {len(tried.trials)} mutants, {wrong} wrong", flush=True)
    for trial in tried.trials:
        if trial.survives:
            print(f"  SURVIVES {_shown(trial)}")
        elif not trial.is_wrong and trial.rules:
            print(f"  FOUND OF AN EQUIVALENT {', '.join(trial.rules)} {_shown(trial)}")


def _shown(trial: Trial) -> str:
    known = " (explained)" if trial.fingerprint in EXPLAINED else ""
    return f"{trial.fingerprint} [{trial.what}]{known}"


def _summary(tried: Sequence[Tried], seconds: float) -> int:
    trials = [trial for each in tried for trial in each.trials]
    wrong = [trial for trial in trials if trial.is_wrong]
    survivors = [trial for trial in wrong if trial.survives]
    unexplained = [trial for trial in survivors if trial.fingerprint not in EXPLAINED]
    took = median([trial.seconds for trial in trials] or [0.0])
    print(
        f"{len(trials)} mutants of {len(tried)} Functions: {len(wrong)} wrong, "
        f"{len(wrong) - len(survivors)} found, {len(survivors)} survive, "
        f"{len(unexplained)} of them not explained; {seconds:.0f} s, median {1000 * took:.0f} ms"
    )
    return 1 if unexplained or not wrong else 0


if __name__ == "__main__":
    sys.exit(main())
