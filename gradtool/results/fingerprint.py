"""Fingerprints, by which a finding is recognized in later runs.

A fingerprint is made of the rule, the node id and the argument that the finding is about: no
line, no number and no word of the message that depends on a value. So it survives an edit
above the Function, another seed, another folder and a better worded message, and a dismissed
or known finding stays dismissed or known.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

from gradtool.results.report import Finding

VERSION = "gradtool/v1"
"""Names this way of making fingerprints. It changes when they do."""

_LENGTH = 32
_QUOTED = re.compile(r"`([^`]+)`")


def fingerprints(findings: Iterable[Finding]) -> list[str]:
    """The fingerprint of each finding, 32 hexadecimal digits, no two alike.

    Findings that are otherwise identical differ by their order.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    made = []
    for finding in findings:
        identity = _identity(finding)
        made.append(_digest((*identity, str(seen[identity])) if seen[identity] else identity))
        seen[identity] += 1
    return made


def _identity(finding: Finding) -> tuple[str, ...]:
    return (finding.rule, finding.node_id.replace("\\", "/"), *_subject(finding))


def _subject(finding: Finding) -> tuple[str, ...]:
    """The part of the case that is wrong: the argument or, without one, the quoted names."""
    if finding.evidence is not None and finding.evidence.argument is not None:
        return (finding.evidence.argument,)
    return tuple(_QUOTED.findall(finding.message))


def _digest(identity: tuple[str, ...]) -> str:
    text = "\0".join(identity).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:_LENGTH]
