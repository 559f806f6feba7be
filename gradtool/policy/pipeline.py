"""The policies that rewrite the results of a run, in their order.

The checks say what they found, and no more. Everything that changes an answer afterwards is in
these lists, each step in a file of its own: a function from one report to the next, which runs
nothing. Two things stay in `checking`, because they need what only a worker has: the answers to
GT511 for the configuration, GT604 and GT702, which rest on rules, lines and arrays that no report
holds.
"""

from __future__ import annotations

from gradtool.config.options import Requirements
from gradtool.policy.annotations import (
    describe_rules,
    hint_at_inferred_arguments,
    warn_of_faults,
)
from gradtool.policy.base_commit_findings import FindAtBase, mark_known_at_base
from gradtool.policy.baseline import Baseline, mark_known
from gradtool.policy.changes import Policy, RunSettings
from gradtool.policy.evidence import require_evidence
from gradtool.policy.flaky_seeds import fold_seeds
from gradtool.policy.ignores import Comments, apply_comment_ignores, apply_configured_ignores
from gradtool.policy.inferred_cases import doubt_lone_failures
from gradtool.policy.requirements import enforce_requirements
from gradtool.policy.tolerances import list_tolerances, report_expired_tolerances


def policies_of_listing(run: RunSettings) -> list[Policy]:
    """Steps for cases that were only listed."""
    return [apply_configured_ignores(run)]


def policies_of_run(
    run: RunSettings,
    comments: Comments | None,
    *,
    seeds: int = 1,
    requirements: Requirements | None = None,
) -> list[Policy]:
    """Steps for a run that has just ended.

    Args:
        run: The settings of what was checked.
        comments: The comments in the checked code; None where they are not applied.
        seeds: The number of results of each Function, one for each seed.
        requirements: What the run must have checked; None for a part of a run.
    """
    return [
        # Add to findings before anything removes some.
        require_evidence(run),
        hint_at_inferred_arguments,
        doubt_lone_failures,
        report_expired_tolerances(run),
        # Configuration first: a comment is not needed for what the configuration ignores.
        apply_configured_ignores(run),
        *([apply_comment_ignores(run, comments)] if comments is not None else []),
        list_tolerances,
        # Ignores come before: an ignored finding must not make a verdict differ between seeds.
        *([fold_seeds(run, seeds)] if seeds > 1 else []),
        # What follows describes and judges the report as it stands by now.
        warn_of_faults,
        describe_rules,
        *([enforce_requirements(requirements)] if requirements is not None else []),
    ]


def policies_of_history(baseline: Baseline | None, find_at_base: FindAtBase | None) -> list[Policy]:
    """Steps that mark findings which are older than the work, after those of the run."""
    return [
        # Cheap, and it leaves fewer files to check at the base commit.
        *([mark_known(baseline)] if baseline is not None else []),
        *([mark_known_at_base(find_at_base)] if find_at_base is not None else []),
    ]


def policies_of_merge(requirements: Requirements) -> list[Policy]:
    """Steps for a report made of others, whose checks had theirs."""
    return [describe_rules, enforce_requirements(requirements)]
