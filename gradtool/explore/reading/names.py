"""Names of arguments that suggest what an argument is: all that exploring reads from a name."""

from __future__ import annotations

import re
from collections.abc import Callable

Test = Callable[[str], bool]


def _names(pattern: str) -> Test:
    """A test for names that a pattern matches as a whole, whatever their case."""
    compiled = re.compile(pattern)

    def matches(name: str) -> bool:
        return bool(compiled.fullmatch(name.strip("_").lower()))

    return matches


# ---- numbers and flags ------------------------------------------------------------------------

is_guard = _names(r"(.*_)?(eps|epsilon|tol|rtol|atol)")
"""Tells a number that guards a computation as long as it is small."""

is_epsilon = _names(r"(.*_)?(eps|epsilon)")
"""Tells a guard that is a part of what is computed, unlike a tolerance."""

is_kept = _names(
    r"(.*_)?(dtype|device|generator|ignore_index|padding_idx|"
    r"hard|straight_through|ste)"
    r"|.*(fp8|fp16|bf16|int8|half|amp\b|autocast|quanti[sz]|low_precision|offload).*"
)
"""Tells what gives no other number, or changes what a gradient is meant to be: a lower precision is
chosen for its speed.
"""

is_position = _names(r"(.*_)?(padding_idx|(ignore|pad|blank|skip)_(idx|index|id|token|token_id))")
"""Tells an integer that is special among those of an index."""

is_mark_of_none = _names(r"(.*_)?(ignored?|pad|padding|skip|void|missing|unlabell?ed)(_\w+)?")
"""Tells a number that stands for none among labels or places."""

is_axis = _names(r"(.*_)?(dim|axis|axes|dims)\d?")
"""Tells an axis."""

is_count = _names(
    r"(num_?|n_?)?(groups?|heads?|parts?|splits?|bins?|levels?|iter(ation)?s?|steps?|order|degree|n|k)"
)
"""Tells a number of parts, of rounds or of terms."""

is_signed = _names(r"(.*_)?(shift|offset|diagonal|lag|exponent|power|p|order|n)s?")
"""Tells an integer that may be negative."""

is_free_number = _names(
    r"(.*_)?(slope|shift|offset|bias|intercept|loc|drift|angle|phase|center|centre|zero_point)"
)
"""Tells a number that may be negative as well as positive."""

is_share = _names(r"(.*_)?(p|prob|probability|drop(out)?|rate|keep|ratio|share)(_?(p|prob|rate))?")
"""Tells a number from 0 to 1."""

is_level = _names(r"(.*_)?(taus?|q|qs|levels?|quantiles?)")
"""Tells levels of quantiles."""

is_block = _names(r"(.*_)?(chunk|block|tile|bs|step|stride|window|group)(_?(size|len))?s?\w{0,2}")
"""Tells the size of the parts that a tensor is cut into."""

is_part_size = _names(r"(.*_)?(chunk|block|tile|segment)(_?(size|len|length))?s?\w{0,2}")
"""Tells a size of parts that changes how a result is computed, and not the result."""

is_place = _names(
    r"(.*_)?(pos(itions?)?|coord(inate)?s?|xyz|points?|atoms?|particles?|vert(ex|ices|s)|centers?)\d?"
)
"""Tells points in space, of which the last axis has the coordinates."""

is_order = _names(r".*(perm|order|inv|rank|sort|shuffle).*")
"""Tells indices that put all entries in another order."""

# ---- tensors ----------------------------------------------------------------------------------

is_gain = _names(r"(.*_)?(weight|gain|gamma)")
"""Tells factors that may be zero, as they are where they are initialized so."""

is_width = _names(r"(.*_)?(sigma|sd|std|stdd?ev|bandwidth|length_?scale|temp(erature)?)s?")
"""Tells the width of a distribution, which is positive."""

is_weight = _names(r"(.*_)?(weights?|w|importance|confidence)")
"""Tells how much something counts, which is a share or a multiple of it."""

is_mark = _names(r".*(mask|valid|keep|label|target|sign|onehot|one_hot|class).*|y")
"""Tells a tensor without a gradient in which ones and zeros are no numbers like others."""

is_mask = _names(
    r"(.*_)?(mask|valid|keep|kept|pad|padding|active|present|observed|visible)(s|_.*)?"
)
"""Tells a tensor of numbers that is a mask if these are all zero or one."""

is_length = _names(r"(.*_)?(lengths?|lens?|seq_?len(s|gths?)?)")
"""Tells the lengths of sequences."""

is_state = _names(
    r"(.*_)?(state|initial|init|prev|previous|carry|memory|history|past|context|skip|[hcsxyz]_?0)"
    r"(_(state|value|hidden))?|zi|(prev|previous)_([a-z]|sample|output|input|frame)"
)
"""Tells what a recurrence starts from, a tensor."""

is_start = _names(r"[chsxz]_?0|(init|initial)(_\w+)?|(\w+_)?init(ial)?")
"""Tells what a recurrence starts from before its first step, where a docstring speaks of it."""

is_initial_state = _names(
    r"[chs]_?0|zi|(init|initial)_?(state|hidden|cell|carry|sample|[chs])"
    r"|[chsxyuz]_prev(ious)?|prev(ious)?_(state|hidden|cell|carry|sample|output|input|frame|[chsxyuz])"
)
"""Tells the state of a recurrence before its first step, which another part may have left."""

is_of_either_sign = _names(
    r"(.*_)?(adv|advantages?|rewards?|returns?|targets?|y|errors?|residuals?|signals?|noise|x|input)"
)
"""Tells a tensor that is positive by chance only."""

is_optional_tensor = _names(
    r"(.*_)?(bias|weights?|b|w|gamma|beta|gain|scale|shift|affine|residual)\d*"
)
"""Tells an optional tensor of which a gradient is wanted."""

is_grid = _names(
    r"(.*_)?(t|ts|times?|dates?|ages?|durations?|grid|knots?|edges?|bins?|boundaries|levels?|nodes?"
    r"|quantiles?|taus?|breaks?|breakpoints?|cuts?|thresholds?|cutpoints?|xp|xs|starts?|ends?"
    r"|sigmas?|betas?|alphas?|cum.*|cdf|schedule|positions?|depths?|distances?|eigenvalues|values"
    r"|lam(bda)?s?|orders?|ranks?|keys?|intervals?|bounds?|lengths?|radii|zs?|z_vals|energies)"
)
"""Tells numbers that may have to be in order, as times and the edges of bins do."""

is_statistic = _names(r"(.*_)?(mean|var|std|variance|invstd|rstd)")
"""Tells a statistic of other entries, such as the mean of what was seen before."""

is_learned = _names(r"(.*_)?(bias|gamma|gain|affine|residual)\d*")
"""Tells one that is never constant, as a weight of a loss may be."""
