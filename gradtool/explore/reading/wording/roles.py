"""Statements about what an argument is for: a mask, a weight, a state, a constant, a count."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable

from gradtool.cases.inference.documentation import scalars
from gradtool.explore.reading.names import is_start, is_state, is_weight
from gradtool.explore.reading.wording.texts import Texts

_GOES_ON = (
    r"\bcarried([ -](in|over|on)\b|[^.;]{0,16}\bstate)"
    r"|\b(from|of|after|by) the (last|previous|preceding) (chunk|segment|block|window)\b"
)
"""Words for what the end of one part of a sequence hands to the next part."""

_STEP = r"(step|sample|frame|state|output|input|token)s?"

_SEQUENCE = r"(chunk|segment|block|window|sequence|signal|series|recording|stream)"

_BEFORE = (
    r"(\b(before|preced\w+|prior to|ahead of) (the )?"
    rf"(first {_STEP}|start|beginning|(\w+ )?{_SEQUENCE})\b"
    rf"|\b(previous|preceding|prior) (\w+ )?{_STEP}\b)"
)
"""Words for what lies before the first step of a sequence."""

_GUESS = r"\b(guess|warm[- ]?start|starting (point|value)|initiali[sz]ation)"
"""Words for what a search begins with: its result does not depend on it."""

_LEARNED = (
    r"((?<!non-)(?<!not )(?<!pre-)"
    r"\b(learn(ed|able|t)|trainable|trained jointly|differentiable|fitted)\b"
    r"|\bmay (come|be) from (an?|another|the other) ([\w-]+ )?"
    r"(network|model|encoder|decoder|head)\b)"
)

_ALL_LEARNED = re.compile(
    r"\b(either|any)( of them| \w+)? (may|can) (be|get) (train|learn|optimi[sz]|fine-?tun)ed\b"
    r"|\b(both|all)( of them| \w+)? "
    r"((train|learn)\b|(are|get|be) (being )?(trained|learned|optimi[sz]ed)\b)"
    r"|\bgradients? (flows?|go(es)?) (in)?to (both|all)\b",
    re.I,
)
"""Matches ``both networks train``: no tensor is a constant."""


_CALLED_WEIGHTS = r"( ?\([^()]*\))?( (is|are|has|holds)|:)?( (?!and|or|with)[\w-]+){0,2} weights\b"
"""Matches what follows ``mask`` in ``mask (N,) nonnegative weights``."""

_IGNORED = re.compile(
    r"(?<![\w.,-])(-\d+)\b[^.;,]{0,24}\b(?:ignor|skip|pad|unlabel|missing|mask|left out)\w*"
    r"|\b(?:ignor|skip|pad|unlabel|missing|mask)\w*[^.;,]{0,24}(?<![\w.,-])(-\d+)\b",
    re.I,
)
"""Matches ``label -1 is ignored`` and ``padded with -1``."""


def ignored_labels(text: str) -> set[int]:
    """The negative integers that a text says to stand for no label or place."""
    return {int(one or other) for one, other in _IGNORED.findall(text)}


class OnRoles(Texts):
    """Statements about what an argument is for."""

    def is_called_mask(self, name: str) -> bool:
        """Return True if a docstring calls an argument a mask, or a boolean tensor."""
        word = rf"\b{re.escape(name)}\b"
        boolean = r"[:(]? ?\(?bool(ean)?\b[^.;)]{0,24}\b(shape|tensor|array)"
        text = rf"{word}[^.;]{{0,32}}\bmasks?\b|{word}`* ?{boolean}"
        return bool(re.search(text, self.docstrings))

    def may_weigh(self, name: str) -> bool:
        """Return True for what a docstring calls weights, and for the name of a weight.

        Unless a docstring says that it is a mask.
        """
        word = re.escape(name)
        if re.search(rf"\b{word}`*{_CALLED_WEIGHTS}", self.docstrings):
            return True
        is_mask = re.search(rf"\b{word}\b[^.;]{{0,32}}\bmasks?\b(?! or\b)", self.docstrings)
        return is_weight(name) and not is_mask

    def is_learned(self, name: str) -> bool:
        """Return True if a docstring says that an argument is learned, or may be."""
        if _ALL_LEARNED.search(self.docstrings):
            return True
        word = re.escape(name)
        # What is "differentiable inside the bins" is something else.
        other = r"(?! (inside|within|outside|between|for|where|if)\b)"
        after = rf"{_LEARNED}{other}[^.;]{{0,24}}\b{word}\b"
        text = rf"\b{word}\b[^.;]{{0,99}}{_LEARNED}|{after}"
        return bool(re.search(text, self.docstrings.replace("e.g.", ""), re.I))

    def is_constant(self, name: str) -> bool:
        """Return True if a docstring says that an argument has no gradient."""
        word = re.escape(name)
        constant = (
            r"\b(constants?|fixed|frozen|detached|buffers?|not (learn|train|differentia)\w*)\b"
        )
        none = r"\b(no|without|never|non-?)[ -]?(a )?(gradient|derivative|differentiable|learn\w*)"
        text = rf"({constant}|{none})"
        return bool(
            re.search(
                rf"\b{word}\b[^.]{{0,99}}{text}|{text}[^.]{{0,40}}\b{word}\b", self.docstrings, re.I
            )
        )

    def is_initial_state(self, name: str) -> bool:
        """Return True if a docstring calls an argument the initial state of a recurrence."""
        word = re.escape(name)
        text = (
            rf"\binitial ((hidden|cell|recurrent|memory) )?(state )?[`(]*{word}\b"
            rf"|\b{word}\b[^.;,]{{0,24}}\binitial (((hidden|cell) )?state|[A-Za-z])\b"
        )
        if is_start(name):
            text += r"|\binitial ((hidden|cell) )?states?\b"
        if is_state(name):
            text += rf"|{_GOES_ON}"
        return bool(re.search(text, self.docstrings, re.I)) and not self.is_constant(name)

    def continues_sequence(self, name: str) -> bool:
        """Return True if a docstring says that an argument lies before the steps of a sequence.

        A state that is zero by default does so, too.
        """
        word = re.escape(name)
        text = (
            rf"\b{word}`*( ?\([^()]*\))?([:,]| is| are| holds)?( (?!and\b|or\b)\w+){{0,3}}"
            rf" {_BEFORE}"
            rf"|{_BEFORE}`*[:,]? [`(]*{word}\b"
        )
        if is_state(name):
            text += rf"|\b{word}\b[^.;]{{0,48}}\b(default|otherwise|or|else)\b:? zeros?\b"
        is_said = bool(re.search(text, self.docstrings, re.I)) and not self.is_constant(name)
        return is_said and not self.is_guess(name)

    def is_guess(self, name: str) -> bool:
        """Return True if a docstring calls an argument what a search begins with."""
        word = re.escape(name)
        text = rf"\b{word}\b[^.;]{{0,48}}{_GUESS}|{_GUESS}[^.;]{{0,24}}\b{word}\b"
        return bool(re.search(text, self.docstrings, re.I))

    def is_stated_count(self, name: str) -> bool:
        """Return True if a docstring calls the result that of so many rounds, few or not."""
        text = (
            rf"(?<!at most )(?<!up to )(?<!maximum of )\b`*{re.escape(name)}`* "
            r"([\w-]+ )?(steps|sweeps|rounds|iterations)\b"
        )
        return bool(re.search(text, self.docstrings))

    def whole(self, parameters: Iterable[inspect.Parameter]) -> set[str]:
        """The parameters that are None by default, or else an integer by what is said of them."""
        return {
            each.name
            for each in parameters
            if each.default is None
            and (
                re.search(r"\bint\b", str(each.annotation))
                or re.search(rf"^\s*{re.escape(each.name)}`*:\s*int\b", self.docstrings, re.M)
            )
        }

    def is_scalar(self, name: str) -> bool:
        """Return True if a docstring says that an argument is one number."""
        return name in scalars(self.docstrings, {name})

    def is_scalar_tensor(self, name: str) -> bool:
        """Return True if a docstring says that an argument is a tensor of one number."""
        return scalars(self.docstrings, {name}).get(name, False)

    def may_be_tensor(self, name: str) -> bool:
        """Return True if a docstring says that an argument is a number or a tensor."""
        word = "(temperature|T)" if name == "T" else re.escape(name)
        text = (
            rf"\b{word}\b[^.;]{{0,24}}\b(float|number|scalar)s? or (an? )?([\w()-]+ ){{0,2}}tensor"
            rf"|\b{word}\b[^.;]{{0,24}}\btensor or (an? )?([\w()-]+ ){{0,2}}(float|number|scalar)"
        )
        return bool(re.search(text, self.docstrings, re.I))
