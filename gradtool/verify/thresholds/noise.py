"""The part of an output, or of a gradient, that is rounding and not the function.

The noise of an output is measured as Moré and Wild do ("Estimating computational noise", SIAM J.
Sci. Comput. 33, 2011): high-order differences of points so close together that any smooth function
is a low polynomial there. A look is one such row of points on one side of the base.
"""

from math import factorial

# ---- measuring the noise of outputs ---------------------------------------------------------

NOISE_POINTS = 10
"""Unit: points of a look. With differences of order six they leave four samples of the noise;
Moré and Wild use 7 to 9 points. Doubled: twice the evaluations of every check, for 14 samples.
Halved: fewer points than a difference of order six needs.
"""

NOISE_DIFFERENCE_ORDER = 6
"""Unit: order of the differences. Sixth differences of a smooth function over 1e-6 of its scale
are far below rounding; even those of one that oscillates 10,000 times over its scale are small.
Doubled: more than ten points allow. Halved: third differences, which such oscillations pass.
"""

NOISE_VARIANCE_FACTOR = factorial(NOISE_DIFFERENCE_ORDER) ** 2 / factorial(
    2 * NOISE_DIFFERENCE_ORDER
)
"""Unit: none. The mean square of a k-th difference of independent noise is the sum of the squared
binomials, (2k)! / (k!)**2, times its variance (Moré and Wild, section 2). Doubled: noise is 1.4
times too large. Halved: 1.4 times too small, which `NOISE_SAFETY` covers. Not to be tuned.
"""

NOISE_SPACINGS = tuple(part * 2.0**-22 for part in (0.7639, -1.0, 1.2361, -1.4142))
"""Unit: parts of the input's scale. Four looks, on both sides, about 2**-22 apart, what float32
can tell apart; no two in a simple ratio, for steps can fall into the pattern of the roundings and
hide them: the first and the third are 2 over the golden ratio, squared and not, the last is the
square root of two. Doubled: oscillations half as fast count as noise. Halved: float32 inputs would
not move.
"""

NOISE_COARSE_SPACING = 2.0**11
"""Unit: times the `NOISE_SPACINGS`. Outputs that rest in all looks are looked at again 2**-11 of
the scale apart, one step of float16. Doubled: curvature of smooth functions starts to show.
Halved: a float16 output can rest here too, and its steps pass for a constant.
"""

NOISE_LOOK_RANK = 1
"""Unit: position among the four looks, from the quietest. One look may be hidden by a pattern of
roundings, and the two of one side may see a kink; the second quietest is neither. Doubled: a kink
close by is taken for noise. Halved (0): the quietest, which a pattern can make zero. Tried
halved: no verdict in the zoo changes.
"""

NOISE_LOOKS_RATIO = 1e3
"""Unit: ratio of the third look to the second. Looks of the same noise differ by a factor of ten
at most (four samples each); a thousand says that half of them are hidden, or see a kink. Doubled
or halved: looks elsewhere decide in fewer or more cases.
"""

NOISE_ELSEWHERE_SPACING = 37.0
"""Unit: times the `NOISE_SPACINGS`. Looks that disagree are repeated this much further out, at a
ratio that shares no factor with the patterns of binary roundings. Doubled: even, so a pattern may
be met again. Halved: the same points would lie nearly on those before.
"""

NOISE_SHARED_QUANTILE = 0.25
"""Unit: share of the entries of an output. An entry is at least as noisy, relative to its size,
as the quietest quarter of its neighbours: four samples can all be zero by chance. Doubled: the
median, so entries sharper than most are called noisy. Halved: hidden noise stays hidden more
often.
"""

NOISE_SAFETY = 4.0
"""Unit: standard deviations. The deviation of four samples is off by up to 2 in one case of 20,
and noise reaches two deviations as often. Doubled: sharper steps are given up, more is
unverified. Halved: two deviations, which noise exceeds at some rung of most ladders. Tried
halved: no verdict in the zoo changes.
"""

NOISE_CLEARANCE = 16
"""Unit: spacings. The points of a look begin this far from the base, which may be a singular
point. Doubled: points lie 32 to 42 spacings off. Halved: a square root at zero curves so much at
8 spacings that its differences pass for noise.
"""

WIDE_SCALE_RATIO = 100.0
"""Unit: largest coordinate over smallest. Beyond it the small one may be moved by so much of
itself, 100 * 26 spacings = 6e-4, that a smooth function of it is no low polynomial any more.
Doubled or halved: the second look, in which each keeps to its own scale, is taken later or more
often.
"""

NOISE_MOST_COORDINATES = 4096
"""Unit: coordinates. The second looks are for single coordinates and outputs, which hardly matter
among so many. Doubled: more evaluations of large functions. Halved: mid-sized functions with
coordinates of very unequal size stay unverified.
"""

OUTPUT_ROUNDINGS = 2.0
"""Unit: roundings of the output. No output is better than its last operation (half a rounding)
and the rounding of the input that led to it; 2 allows for a function of a few operations.
Doubled: the error of every sharp value doubles. Halved: exp and log, right to one rounding, reach
the bound.
"""

PLAIN_NOISE_ROUNDINGS = 8.0
"""Unit: times `OUTPUT_ROUNDINGS`. Noise up to 16 roundings is that of any sum; more says that the
function computes in a lower precision or cancels. Doubled: an output rounded to 48 bits may rest
and be called flat. Halved: sums over some 100 terms count as noisy and climb ladders.
"""

WIDENED_OUTPUT_DIFFERENCE = 1e-2
"""Unit: part of the largest output. A function is sampled in double precision if that gives the
same outputs; float16 leaves 1e-3 of a few operations, other functions differ by more. Doubled:
still the same functions. Halved: float16 sums of some hundred terms are sampled in float16.
"""

# ---- what is lost in the roundings of an output ---------------------------------------------

OWN_PRECISION_ROUNDINGS = 16.0
"""Unit: roundings of the output, over the input's scale. The analytic side keeps the case's
precision where samples are finer; a slope that moves its output by less is lost there. Doubled:
small entries of float32 gradients pass when 30 roundings off. Halved: right float32 gradients are
blamed for them. Tried halved: no verdict in the zoo changes.
"""

ROUNDING_FLOOR_ROUNDINGS = 2.0**14
"""Unit: roundings of the output, over the input's scale. Far out, an output may fall to its limit
within a small part of that scale, so its slope is larger by up to this factor. For float64 the
floor is 4e-12 of the output. Doubled: mistakes below 1e-11 of the output pass. Halved: saturated
sigmoids become unverified a little closer to their limit. Tried halved: no verdict in the zoo
changes.
"""

ROUNDING_FLOOR_MOST_NOISE = 64.0
"""Unit: roundings of the output. Noise up to here is rounding and raises the floor; more is
another matter. Doubled: noisier functions have more entries excused. Halved: sums of a few
hundred terms have a floor below their own roundings.
"""

ROUNDING_FLOOR_LEAST_NOISE = 1e-13
"""Unit: absolute. Outputs near zero that were computed from numbers of size one carry roundings
of these, 450 of them here. Doubled or halved: entries below 1.6e-9 in such outputs, the floor
over the scale, are excused twice or half as far.
"""

CANCELLED_ROUNDINGS = 2.0**20
"""Unit: roundings of the numbers that an entry of a gradient is a difference of. Smaller entries
have fewer than 20 reliable bits at the most and follow their input in coarse steps. Doubled:
entries with 21 bits are excused for moving in steps. Halved: a few stay unverified instead.
"""

# ---- how the analytic side reacts to rounding -----------------------------------------------

REROUNDED_DIGITS = 4
"""Unit: roundings of the input. Inputs are changed by 2 to 6 of these to see how a gradient
reacts: enough that every operation rounds otherwise, too little to move a smooth gradient.
Doubled or halved: the measured sensitivity of an ill-conditioned backward doubles or halves.
"""

SENSITIVITY_LOOKS = 2
"""Unit: runs of backward for all rows. Each costs as much as the analytic Jacobian, and they run
only where a small difference is in doubt. Doubled: twice that cost. Halved: one look, which may
hit the same rounding again and show nothing.
"""

SENSITIVITY_SAFETY = 8.0
"""Unit: times the largest change seen. The largest of two samples bounds a third with odds of 2
to 1 only; eight times it holds unless noise is very uneven. Doubled: differences of the size of
64 roundings are excused. Halved: cancelling but right gradients are blamed now and then.
"""

# ---- gradients of low precision -------------------------------------------------------------

BEARABLE_JITTER = {8: 1e-8, 4: 1e-4}
"""Unit: part of the entry, by the bytes of a real number. Half of the digits of each dtype: 2e-16
becomes 1e-8, 1e-7 is given 1e-4. A backward through float32 shows 1e-7, one through float16 1e-3.
Doubled: float32 is still seen in double precision. Halved: ill-conditioned backwards are too.
"""

IRREGULAR_FACTOR = 0.7853981633974483
"""Unit: times each entry of a cotangent. A quarter of pi: times a number of few digits it is one
that float32 does not hold. Doubled or halved: the same, for its digits are what counts.
"""

JITTER_OVER_OUTPUTS = 100.0
"""Unit: times the jitter that the outputs explain. A gradient has a few more operations than its
output, and a condition number of its own. Doubled: the loss of two and a half digits is excused.
Halved: gradients of badly scaled, but right, functions are noted.
"""

JITTER_FEW_COORDINATES = 4
"""Unit: coordinates. With fewer, all points of a look may round the same way, so the look is
repeated along other directions. Doubled: more repeats. Halved: jitter of a scalar is overlooked.
"""

JITTER_RETRIED_SIZE = 4096
"""Unit: coordinates of the largest input. Repeats are for small cases; beyond this they cost more
than they tell. Doubled or halved: that much more or less time in mid-sized cases.
"""

JITTER_TRIES = 3
"""Unit: looks. If one look in three is hidden by a pattern of roundings, three leave it hidden in
one case of 27. Doubled: twice the evaluations of quiet gradients. Halved: one look.
"""

CLEAR_JITTER = 8.0
"""Unit: times `BEARABLE_JITTER`. Less is looked at a second time, since four samples of noise give
twice its deviation now and then. Doubled: a second look at most gradients in single precision.
Halved: gradients at the very bound are noted by chance.
"""

JITTER_SIGNIFICANT_ENTRY = 0.1
"""Unit: part of the gradient's largest entry. Smaller entries carry the roundings of the large
ones with them. Doubled: fewer entries are judged. Halved: entries that are 20 times smaller show
20 times the relative jitter, and are noted for it.
"""

EXPLAINED_JITTERS = 64.0
"""Unit: times the measured jitter. How far a gradient may be off because of jitter: a systematic
rounding error of a sum is larger than the jitter by about the square root of its length. Doubled:
small mistakes in low-precision gradients pass as notes. Halved: long sums are blamed.
"""

LARGEST_SINGLE_JITTER = 1e-4
"""Unit: part of the gradient's largest entry. Single precision has 6e-8; with 1000 terms that
cancel it shows 1e-4. More is not explained by it. Doubled or halved: a wrong gradient of such
jitter is one of low precision, or is wrong.
"""
