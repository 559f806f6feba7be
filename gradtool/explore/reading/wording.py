"""Words of docstrings and sources that say what a Function is made for: the one place for them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterable
from functools import cached_property, lru_cache
from typing import Any

from gradtool.cases.inference.documentation import documentation, scalars, source, stated
from gradtool.explore.reading.letter_case import parameter_names, with_names_as_given
from gradtool.explore.reading.names import is_start, is_state, is_weight

_SYMMETRIC = re.compile(
    r"(?<!a)symmetr|hermitian|\b(spd|psd|eigh)\b|positive.?(semi.?)?definite|covariance|cholesky"
    r"|laplacian|undirected|\bgram\b|(precision|kernel|metric|stiffness|mass|inertia).?(matrix|tensor)"
    r"|pairwise distances",
    re.I,
)
"""Words for matrices that are symmetric by what they are."""

_ANY_MATRIX = re.compile(
    r"\b(any|arbitrary|general|transition)\b[^.;]{0,20}\bmatri|\basymmetric|\bany square\b"
    r"|\b(un|non-?)symmetric|\bnot (be |necessarily |assumed |required |to be )*symmetric",
    re.I,
)

_SORTED = re.compile(
    r"(?<!un)sorted|contiguous|consecutive|\bcsr\b|packed|ascending|non-?decreasing", re.I
)

_WIDE = re.compile(
    r"\bwide\b|minimum.norm|under-?determined|any shape|moore-penrose|pseudo-?inverse", re.I
)

_TALL = re.compile(
    r"full column rank|least.squares|over-?determined|\btall\b|residual"
    r"|moore-penrose|pseudo-?inverse",
    re.I,
)

_EVENLY = re.compile(
    r"(?<!non-)\b(uniform|regular|even)(ly)?\b|equi-?distant|equally spaced|\blinspace"
    r"|\bsame (spacing|distance)|\b(constant|fixed) (step|spacing)",
    re.I,
)

_ONE = re.compile(
    r"\b[A-Z]\w?\b *(>=|\u2265) *1\b|\b(a single|only one|length one|length 1|one) "
    r"(observation|sample|element|entry|item|step|row|point|token|value)\b"
)

_SINGLE = re.compile(r"(?<!upcast to )\b(float32|single precision|fp32)\b", re.I)

_ANY_SIZE = re.compile(
    r"\bany (real|finite)\b|\ball (reals|real numbers)\b|(\bof |0\)? \(?)any (size|magnitude)\b"
    r"|\b(overflow|underflow)|\bnumerically (stable|robust)|\b(may|can) be (very )?large\b",
    re.I,
)

_WRITTEN_OUT = re.compile(r"log1p\([^)]*exp\(\s*-")
"""Matches what is written out to compute the logarithm of exponentials of any size."""

_STABLE = re.compile(r"\b(softplus|logsigmoid|logaddexp)\(")
"""Matches what computes it for any size."""

_POSITIVE = re.compile(
    r"positive|non-?negative|probabilit|\bbetween 0\b|\[0, ?1|\(0, ?1|> ?0\b|>= ?0\b|simplex", re.I
)

_DISTINCT = re.compile(
    r"\b(distinct|pairwise different|no ties|without ties|untied|no (two )?equal|no duplicates?"
    r"|no repeat|unique (ind|entr|val|max|min|label))",
    re.I,
)

_APART = re.compile(
    r"\b(not|never|non|no)\b[^.;]{0,24}\bcoincid|\bnone of them\b|\bdisjoint\b|\bin common\b"
    r"|\bpositive distances?\b|\bnever (touch|meet)",
    re.I,
)

_REPEATED = re.compile(
    r"\b(later|last|latest|final)\b[^.;]{0,40}\b(replace|overwrit|win)|\bduplicates?\b|"
    r"\brepeated (ind|slot|entr|key|row)|\bsame (slot|index|row|bin|cell)",
    re.I,
)

_PERMUTATION = re.compile(
    r"\bperm(utation|uted?|utes|uting)?s?\b(?!\()|argsort|\binvers|\binverted|bijecti|shuffl|reorder",
    re.I,
)

_SUMMED = re.compile(r"\.sum_to_size\(\*?(\w+)\.(?:shape|size\(\))")
"""Matches the reduction of a gradient to the shape of an argument."""

_NAMES_LAST_AXIS = re.compile(r"(\(|dim=|, )-1\b|\bi?[rh]?fft\(")

_NEVER_EMPTY = re.compile(
    r"(?<!that have )(?<!that has )(?<!which have )(?<!with )\bat least one\b"
    r"|\bnon-?empty\b|\bnever empty\b|\bno (row|group|segment|sequence)s? is\b"
    r"|\b(every|each) (row|group|segment|sequence|sample)\b[^.;]{0,12}\b(has|keeps|contains)\b"
    r"|\bnot all\b|\bnever all\b",
    re.I,
)

_PADDING = re.compile(r"\bpad(s|ded|ding)?\b|stored as zeros?\b", re.I)

_NEVER_ZERO = re.compile(
    r"\b(must|should|assum\w*|requires?|all|every|each)\b[^.;]{0,24}\b(non-?zero|not (be )?zero)\b"
    r"|\bnon-?zero (\w+ )?(rows?|vectors?|norms?|entries|inputs?|values|numbers)\b"
    r"|\bnever (be )?zero\b"
    r"|\b(numbers|rows|vectors|entries|inputs|values) (that|which) are not (zero|0)\b"
    r"|\baway from (zero|0|the origin)\b|(!=|\u2260) ?0\b|\boff\b[^.;]{0,32}\b(zero|0|origin)\b"
    r"|\b(no (derivative|gradient)|not (differentiable|defined)|undefined|singular)\b"
    r"[^.;]{0,32}\b(zero|0|origin)\b",
    re.I,
)

_ZERO_ROWS = re.compile(
    r"\b((all[- ])?(zero|null)[- ](rows?|columns?|vectors?|inputs?|norms?)"
    r"|(rows?|vectors?) of zeros)\b(?![^.;]{0,24}\bnot\b)"
    r"[^.;]{0,24}\b(stay|map|give|get|return|yield|become|remain|keep|have|are (safe|handled))",
    re.I,
)
"""Matches what says that rows of zeros have a result."""

_GENERAL_POSITION = re.compile(
    r"non-?degenerate|general position|(not|non-?|no three) ?(collinear|coplanar|parallel)"
    r"|linearly independent",
    re.I,
)

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

_PART = r"\b(incomplete|partial|last|trailing|remain\w*|left.?over|extra|rest)\b"
_DROPPED = r"\b(drop|ignor|discard|skip|truncat|left out|unused|no gradient)\w*"

_DROPS_REST = re.compile(
    rf"{_PART}[^.;]{{0,40}}{_DROPPED}|{_DROPPED}[^.;]{{0,40}}{_PART}",
    re.I,
)
"""Matches what is left of an axis after all whole parts, and plays no role."""

_DOMAIN = re.compile(
    r"\b(needs?|requires?|must|assum\w*|only|valid|where|for|with|if)\b[^.;]{0,40}"
    r"(\)\s*[<>\u2264\u2265]|[<>\u2264\u2265]=?\s*\w*\(|\w\s*[-+*/^]\s*\w+\s*[<>\u2264\u2265])",
    re.I,
)
"""Matches a condition on what is computed from arguments, as ``needs 1 - exp(k) < c``."""

_SIGNED_UNIT_RANGE = re.compile(
    r"-1(\.0)?(,| and| to|\.\.) ?\+?1\b|-1 ?(<|\u2264)=? ?\w+ ?(<|\u2264)=? ?1\b"
)

_PARITY = re.compile(r"(\b|_)odd(\b|_)|\beven (number|integer)|% 2\b")

_QUOTED = re.compile(r"(['\"`])(\w+)\1")

_REAL_OR_COMPLEX = re.compile(
    r"\breal\b[^.;]{0,24}\bor\b[^.;]{0,12}\bcomplex\b|\breal( \([^)]*\))? and complex\b"
    r"|\bcomplex\b[^.;]{0,24}\bor\b[^.;]{0,12}\breal\b|\bcomplex and real\b"
    r"|\bcomplex (also )?(allowed|supported)"
    r"|\b(unitary|hermitian) or (orthogonal|symmetric)\b"
    r"|\b(orthogonal|symmetric) or (unitary|hermitian)\b",
    re.I,
)

_LEADING = re.compile(r"\b(\w+)`*:?\s*\(\s*(?:\.\.\.|\*)\s*,")
"""Matches ``x (..., n)`` and ``x: (*, n)``, a shape with any number of leading axes."""

_TRAILING = re.compile(r"\b(\w+)`*:?\s*\([\w\s,]+,\s*(?:\.\.\.|\*\w*)\s*\)")
"""Matches ``x (n, c, ...)`` and ``x: (n, c, *spatial)``, a shape with any number of last axes."""

_COUNTS_FURTHER_AXES = re.compile(
    r"\*\s*\(\s*(?P<of>\w+)\.(?:dim\(\)|ndim)\s*-\s*[12]\s*\)"
    r"|\brange\(\s*[12]\s*,\s*(?P<to>\w+)\.(?:dim\(\)|ndim)\s*\)"
)
"""Matches ``[1] * (x.dim() - 2)`` and ``range(2, x.dim())``, which stand for all last axes of x."""

_ANY_TRAILING = re.compile(
    r"\([\w\s,]+,\s*(?:\.\.\.|\*\w*)\s*\)`*[- ](?:shaped )?(?:input|tensor|argument|array)s?\b"
)
"""Matches ``(n, c, *spatial) inputs``, the same of an argument without its name."""

_ANY_LEADING = re.compile(
    r"\b(any|arbitrary)\b[^.;]{0,24}\b(leading|batch)\b|\bleading dim"
    r"|\bor (of )?(a )?batch(es)? of\b",
    re.I,
)

_STACKED = re.compile(
    r"\b(one|a single) or (several|more|many|multiple) |\b(one|single) or (a )?(batched|stacked)\b"
    r"|\b(optionally|possibly|may be) (batched|stacked)\b|\bunbatched\b|\b(un)?stacked or\b",
    re.I,
)
"""Matches what there may be one or several of: several are stacked along a new axis."""

_RECOMPUTED = re.compile(r"recompu|re-?comput|rematerial|checkpoint|\bremat\b", re.I)
"""Words for what is not stored, and done once more in backward."""

_DETERMINISTIC = re.compile(
    r"\bdeterministic|\bpure\b|\bno (randomness|dropout)\b|\beval mode", re.I
)

_LEARNED = (
    r"((?<!non-)(?<!not )(?<!pre-)"
    r"\b(learn(ed|able|t)|trainable|trained jointly|differentiable|fitted)\b"
    r"|\bmay (come|be) from (an?|another|the other) ([\w-]+ )?"
    r"(network|model|encoder|decoder|head)\b)"
)

_ALL_LEARNED = re.compile(
    r"\b(both|all)( of them| \w+)? "
    r"((train|learn)\b|(are|get|be) (being )?(trained|learned|optimi[sz]ed)\b)"
    r"|\bgradients? (flows?|go(es)?) (in)?to (both|all)\b",
    re.I,
)
"""Matches ``both networks train``: no tensor is a constant."""

_LAST_AXIS = re.compile(r"\b(along|over|across) (the|its) (last|final|trailing) (dim|axis)", re.I)
"""Matches what goes along the last axis, however many come before."""

_BROADCAST = re.compile(
    r"((?:[^.;,()]*[;,])?\s*(?:any\w*|whatever|it)\b[^.;,()]*|[^.;,()]*)"
    r"\(?\b(?:broadcastable|(?:may |can |are )?broadcasts?)\b"
    r"|\bbroadcasting of ([^.;()]*)",
    re.I,
)
"""Matches what a clause says beside that word: which arguments may have such a shape."""

_ALL = re.compile(r"\b(arguments|inputs|tensors|all (of them|two|three|four))\b", re.I)


@lru_cache(maxsize=8)
def wording(function: Any) -> Wording:
    """The texts of a Function."""
    docstrings = with_names_as_given(documentation(function), parameter_names(function))
    return Wording(docstrings, source(function))


def speaks_of_distinct(text: str) -> bool:
    """Return True for a text that says that no two entries are the same."""
    return bool(_DISTINCT.search(text))


def speaks_of_parity(text: str) -> bool:
    """Return True for a text about odd or even numbers."""
    return bool(_PARITY.search(text))


class Wording:
    """Statements of the texts of a Function about its arguments."""

    def __init__(self, docstrings: str, code: str) -> None:
        self.docstrings = docstrings
        self._code = code

    @cached_property
    def _forward(self) -> str:
        """The source above backward."""
        return self._code.partition("def backward")[0]

    # To compile a pattern with the name of an argument takes longer than to look for a word.

    @cached_property
    def _speaks_of_any(self) -> bool:
        return "any" in self.docstrings or "arbitrary" in self.docstrings

    @cached_property
    def _speaks_of_complex(self) -> bool:
        return "complex" in self.docstrings.lower() or "is_complex(" in self._code

    @cached_property
    def speaks_of_single_precision(self) -> bool:
        """A docstring says that numbers may be of float32."""
        return bool(_SINGLE.search(self.docstrings))

    @cached_property
    def needs_symmetry(self) -> bool:
        """The source above the samples, or a docstring, speaks of symmetric matrices."""
        methods = self._code.partition("def sample_inputs")[0]
        speaks = _SYMMETRIC.search(f"{methods}\n{self.docstrings}")
        return bool(speaks) and not self.allows_asymmetry

    @cached_property
    def allows_asymmetry(self) -> bool:
        """A docstring says that matrices need not be symmetric."""
        return bool(_ANY_MATRIX.search(self.docstrings))

    @cached_property
    def needs_order(self) -> bool:
        """Forward or a docstring speaks of what is sorted or lies together.

        A backward that relies on it may do so by mistake.
        """
        return bool(_SORTED.search(f"{self._forward}\n{self.docstrings}"))

    @cached_property
    def needs_even_spacing(self) -> bool:
        """A docstring says that the distances of a grid are all the same."""
        return bool(_EVENLY.search(self.docstrings))

    @cached_property
    def allows_one(self) -> bool:
        """A docstring says that an extent may be one, or what comes of it then."""
        return bool(_ONE.search(self.docstrings))

    @cached_property
    def needs_distinct(self) -> bool:
        """A docstring says that no two entries are the same."""
        return speaks_of_distinct(self.docstrings)

    @cached_property
    def needs_points_apart(self) -> bool:
        """A docstring says that no point of one set is one of another."""
        is_apart = bool(_APART.search(self.docstrings)) or self.needs_general_position
        return is_apart or self.needs_distinct or self.needs_nonzero

    @cached_property
    def may_repeat(self) -> bool:
        """A docstring speaks of indices that occur twice."""
        return bool(_REPEATED.search(self.docstrings)) and not self.needs_distinct

    @cached_property
    def speaks_of_order(self) -> bool:
        """The source or a docstring speaks of permutations, or of an order that is undone."""
        return bool(_PERMUTATION.search(f"{self._code}\n{self.docstrings}"))

    @cached_property
    def needs_some(self) -> bool:
        """A docstring says that no row, group or segment is empty."""
        return bool(_NEVER_EMPTY.search(self.docstrings))

    @cached_property
    def speaks_of_padding(self) -> bool:
        """A docstring speaks of padding, or of something that is stored as zeros."""
        return bool(_PADDING.search(self.docstrings))

    @cached_property
    def is_unrolled(self) -> bool:
        """A docstring calls backward the derivative of all rounds of an iteration."""
        return "unroll" in self.docstrings.lower()

    @cached_property
    def needs_nonzero(self) -> bool:
        """A docstring says that something is not zero."""
        return bool(_NEVER_ZERO.search(self.docstrings))

    @cached_property
    def allows_zero_rows(self) -> bool:
        """A docstring says what becomes of rows of zeros."""
        return bool(_ZERO_ROWS.search(self.docstrings)) and not self.needs_nonzero

    @cached_property
    def needs_general_position(self) -> bool:
        """A docstring excludes points that coincide or lie on a line, or vectors that do."""
        return bool(_GENERAL_POSITION.search(self.docstrings))

    @cached_property
    def drops_rest(self) -> bool:
        """A docstring says that what does not fill a whole part plays no role."""
        return bool(_DROPS_REST.search(self.docstrings))

    @cached_property
    def has_domain(self) -> bool:
        """A docstring states a condition on what is computed from the arguments."""
        return bool(_DOMAIN.search(self.docstrings))

    @cached_property
    def needs_positive(self) -> bool:
        """A docstring speaks of positive numbers or of probabilities."""
        return bool(_POSITIVE.search(self.docstrings))

    @cached_property
    def may_be_wide(self) -> bool:
        """A docstring speaks of matrices with more columns than rows."""
        return bool(_WIDE.search(self.docstrings))

    @cached_property
    def may_be_tall(self) -> bool:
        """A docstring speaks of matrices with more rows than columns."""
        return bool(_TALL.search(self.docstrings))

    @cached_property
    def is_of_any_size(self) -> bool:
        """A docstring says that numbers may be as large as they like."""
        return bool(_ANY_SIZE.search(self.docstrings))

    @cached_property
    def speaks_of_parity(self) -> bool:
        """The source speaks of odd or even numbers."""
        return speaks_of_parity(self._code)

    @cached_property
    def quoted(self) -> list[str]:
        """The words that docstrings quote."""
        return [word for _, word in _QUOTED.findall(self.docstrings)]

    @cached_property
    def speaks_of_signed_unit_range(self) -> bool:
        """A docstring speaks of the range from -1 to 1."""
        return bool(_SIGNED_UNIT_RANGE.search(self.docstrings))

    def may_be_negative(self, name: str) -> bool:
        """Return True if a docstring speaks of any value of an argument, without a bound."""
        if not self._speaks_of_any:
            return False
        word, free = re.escape(name), r"(?! *(>|\u2265|in |between))"
        text = (
            rf"\bany (\S+ )?`*{word}\b`*{free}"
            rf"|\b{word}`*:? (may be |is |can be )?(any|an arbitrary) "
            rf"(float|real|number|sign){free}"
        )
        return bool(re.search(text, self.docstrings))

    def is_called_mask(self, name: str) -> bool:
        """Return True if a docstring calls an argument a mask."""
        return bool(re.search(rf"\b{re.escape(name)}\b[^.;]{{0,32}}\bmasks?\b", self.docstrings))

    def is_learned(self, name: str) -> bool:
        """Return True if a docstring says that an argument is learned, or may be."""
        if _ALL_LEARNED.search(self.docstrings):
            return True
        word = re.escape(name)
        text = rf"\b{word}\b[^.;]{{0,99}}{_LEARNED}|{_LEARNED}[^.;]{{0,24}}\b{word}\b"
        return bool(re.search(text, self.docstrings.replace("e.g.", ""), re.I))

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

    def is_nonzero(self, name: str) -> bool:
        """Return True if a docstring asks no more of an argument than not to be zero."""
        text = rf"\b{re.escape(name)}\b`*[^.;,]{{0,16}}\bnon-?zero\b"
        return bool(re.search(text, self.docstrings, re.I))

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

    def may_be_zero(self, name: str) -> bool:
        """Return True if a docstring says that an argument may be zero."""
        text = (
            rf"\b{re.escape(name)}\b[^.;]{{0,48}}\bzeros? (is |are )?(allowed|possible|permitted)"
        )
        may = rf"\b{re.escape(name)}\b[^.;]{{0,24}}\b(may|can) (be|contain|have) (zero|0)"
        return bool(re.search(f"{text}|{may}", self.docstrings, re.I))

    def may_vanish(self, name: str) -> bool:
        """Return True if a docstring calls the numbers of an argument non-negative."""
        word, sign = re.escape(name), r"(>=|\u2265) *0(?![.\d])"
        text = (
            rf"\b{word}\b[^.;<>\u2265]{{0,16}}{sign}|\b{word}\b[^.;]{{0,24}}\bnon-?negative"
            rf"|\bnon-?negative\b[^.;]{{0,24}}\b{word}\b"
        )
        return bool(re.search(text, self.docstrings, re.I))

    def may_be_tensor(self, name: str) -> bool:
        """Return True if a docstring says that an argument is a number or a tensor."""
        word = "(temperature|T)" if name == "T" else re.escape(name)
        text = (
            rf"\b{word}\b[^.;]{{0,24}}\b(float|number|scalar)s? or (an? )?([\w()-]+ ){{0,2}}tensor"
            rf"|\b{word}\b[^.;]{{0,24}}\btensor or (an? )?([\w()-]+ ){{0,2}}(float|number|scalar)"
        )
        return bool(re.search(text, self.docstrings, re.I))

    def may_weigh(self, name: str) -> bool:
        """Return True for the name of a weight, unless a docstring says that it is a mask."""
        if not is_weight(name):
            return False
        word = re.escape(name)
        return not re.search(rf"\b{word}\b[^.;]{{0,32}}\bmasks?\b(?! or\b)", self.docstrings)

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

    def states_shape_of(self, name: str) -> bool:
        """Return True if a docstring states the shape of an argument."""
        return bool(stated(self.docstrings, {name}))

    def is_scalar(self, name: str) -> bool:
        """Return True if a docstring says that an argument is one number."""
        return name in scalars(self.docstrings, {name})

    def is_scalar_tensor(self, name: str) -> bool:
        """Return True if a docstring says that an argument is a tensor of one number."""
        return scalars(self.docstrings, {name}).get(name, False)

    def may_be_complex(self, name: str) -> bool:
        """Return True if a docstring or a test in the source speaks of complex values of it."""
        if not self._speaks_of_complex:
            return False
        word = re.escape(name)
        text = (
            rf"\bcomplex([- ]valued)? (\w+ )?`*{word}\b"
            rf"|\b{word}`*:?( \([^)]*\))?:? ([^\W\d]+ )?((is|are|be|of) )?complex\b"
        )
        code = rf"\b{word}\.is_complex\(|is_complex\({word}\b"
        return bool(re.search(text, self.docstrings, re.I) or re.search(code, self._code))

    def is_conjugated(self, name: str) -> bool:
        """Return True if forward conjugates an argument, which changes no real number."""
        if "conj(" not in self._forward:
            return False
        word = re.escape(name)
        return bool(re.search(rf"\b{word}\.conj\(|\bconj\({word}\b", self._forward))

    @cached_property
    def cannot_overflow(self) -> bool:
        """The source takes care that large numbers do not overflow."""
        return bool(_WRITTEN_OUT.search(self._code))

    @cached_property
    def is_stable(self) -> bool:
        """The source computes with what is finite for numbers of any size."""
        return self.cannot_overflow or bool(_STABLE.search(self._forward))

    def real_or_complex(self, names: Collection[str]) -> set[str]:
        """The arguments that a docstring says to be real or complex: the ones in that clause.

        All `names` if it names none.
        """
        found = _REAL_OR_COMPLEX.search(self.docstrings)
        if found is None:
            return set()
        clause = re.split(r"[.;:,]", self.docstrings[: found.start()])[-1]
        named = set(re.findall(r"\w+", clause)) & set(names)
        return named or set(names)

    def may_broadcast(self, name: str) -> bool:
        """Return True if a docstring calls an argument, or all of them, broadcastable."""
        clauses = self._about_broadcasting
        is_any = _ALL.search(clauses) or "with broadcasting" in self.docstrings
        word = re.escape(name)
        follows = rf"\b{word}\b`*,? (which|that) (may |can )?broadcast"
        is_named = re.search(rf"\b{word}\b", clauses) or re.search(follows, self.docstrings)
        return bool(is_any or is_named)

    @cached_property
    def _about_broadcasting(self) -> str:
        # To look for clauses that end in a word takes the square of their length.
        is_said = "broadcast" in self.docstrings.lower()
        return " ".join(map(" ".join, _BROADCAST.findall(self.docstrings))) if is_said else ""

    def is_summed_to(self, name: str) -> bool:
        """Return True if the source sums a gradient to the shape of an argument."""
        return name in _SUMMED.findall(self._code)

    @property
    def goes_along_last_axis(self) -> bool:
        """The source names the last axis, along which broadcasting changes what is computed."""
        return bool(_NAMES_LAST_AXIS.search(self._code))

    @property
    def needs_same_results(self) -> bool:
        """A docstring says that something gives the same results at every call."""
        return bool(_DETERMINISTIC.search(self.docstrings))

    @property
    def recomputes(self) -> bool:
        """The source or a docstring says that backward runs once more what it needs."""
        return bool(_RECOMPUTED.search(f"{self._code}\n{self.docstrings}"))

    @property
    def speaks_of_batches(self) -> bool:
        """A docstring calls something batched."""
        return "batched" in self.docstrings.lower()

    @property
    def may_be_stacked(self) -> bool:
        """A docstring says that there may be one or several of what forward takes."""
        return bool(_STACKED.search(self.docstrings))

    def with_any_last_axes(self, names: Collection[str]) -> set[str]:
        """The arguments that may have more last axes: the first, if it is any."""
        counted = _COUNTS_FURTHER_AXES.finditer(self._code)
        found = (*_TRAILING.findall(self.docstrings), *(m["of"] or m["to"] for m in counted))
        named = set(found) & set(names)
        is_any = not named and names and _ANY_TRAILING.search(self.docstrings)
        return {next(iter(names))} if is_any else named

    def with_any_leading_axes(self, names: Collection[str]) -> set[str] | None:
        """The arguments that may have more leading axes; None if it may be any of them."""
        named = set(_LEADING.findall(self.docstrings)) & set(names)
        is_any = _ANY_LEADING.search(self.docstrings) or _LAST_AXIS.search(self.docstrings)
        return None if not named and is_any else named
