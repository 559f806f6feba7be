"""The times of a Function as bars: one for each phase, divided by operation."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterator, Sequence

from gradtool.measure.units import time_text
from gradtool.report.html.elements import Child, element
from gradtool.results.profile import CaseProfile, FunctionProfile, Phase

_COLOURS = 5
"""Operations with a colour of their own: the costliest."""
_REST = "other operations"


def chart(function: FunctionProfile) -> ET.Element | None:
    """Bars on one scale for all cases of a Function; None where nothing was timed."""
    timed = [phase for case in function.cases for phase in case.phases if phase.time is not None]
    if not timed:
        return None
    longest = max(phase.time.p75 for phase in timed if phase.time is not None)
    colours = _colours(timed)
    caption = element(
        "figcaption", element("b", "Time of one run"), " median and quartiles, by operation"
    )
    rows = (row for case in function.cases for row in _case(case, longest, colours))
    return element("figure", caption, *rows, _legend(timed, colours), class_="bars")


def _colours(phases: Sequence[Phase]) -> dict[str, str]:
    """The class of each operation that has a colour, the costliest first."""
    costs: defaultdict[str, float] = defaultdict(float)
    for phase in phases:
        for each in phase.operations:
            costs[each.name] += each.own
    costliest = sorted(costs, key=lambda name: -costs[name])[:_COLOURS]
    return {name: f"c{place}" for place, name in enumerate(costliest)}


def _case(case: CaseProfile, longest: float, colours: dict[str, str]) -> Iterator[Child]:
    yield element("h3", case.name)
    for phase in case.phases:
        if phase.time is not None:
            yield element("span", phase.name)
            yield _track(phase, longest, colours)
            yield element("span", time_text(phase.time.median), class_="right")


def _track(phase: Phase, longest: float, colours: dict[str, str]) -> ET.Element:
    assert phase.time is not None
    time = phase.time
    bar = element("span", class_="bar", style=f"width: {time.median / longest:.1%}")
    for name, share in _shares(phase, colours).items():
        tip = f"{name} {share:.0%}"
        kind = f"share {colours.get(name, 'rest')}"
        bar.append(element("span", class_=kind, style=f"width: {share:.1%}", title=tip))
    place = f"left: {time.p25 / longest:.1%}; width: {(time.p75 - time.p25) / longest:.1%}"
    return element("span", bar, element("span", class_="spread", style=place), class_="track")


def _shares(phase: Phase, colours: dict[str, str]) -> dict[str, float]:
    """The share of each operation that has a colour, and of the others together."""
    shares = dict.fromkeys((*colours, _REST), 0.0)
    whole = sum(each.own for each in phase.operations)
    for each in phase.operations:
        if whole:
            shares[each.name if each.name in colours else _REST] += each.own / whole
    return {name: share for name, share in shares.items() if share} or {_REST: 1.0}


def _legend(phases: Sequence[Phase], colours: dict[str, str]) -> ET.Element:
    listed = dict(colours)
    if any(_REST in _shares(phase, colours) for phase in phases):
        listed[_REST] = "rest"
    items = (
        element("li", element("span", class_=f"share {kind}"), name)
        for name, kind in listed.items()
    )
    return element("ul", *items, class_="legend")
