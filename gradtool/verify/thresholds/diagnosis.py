"""Fits that give a mistake its name, and the digits that are shown."""

# ---- factors and products -------------------------------------------------------------------

FACTOR_EXACT = 1e-6
"""Unit: part of the factor. A factor is written as a fraction if it is one to the precision of
the numeric side, `DOUBLE_RTOL`. Doubled: 0.333334 is 1/3 as well. Halved: a factor measured in
float32 is a decimal more often.
"""

PLAIN_FACTORS = (-1.0, 1.0, -2.0)
"""Unit: multiples of a step's part of the gradient by which the whole is off. That part is missing,
counted twice, or has the wrong sign: the plainest mistakes, named before others that fit as well.
Doubled: steps that are counted three times are preferred to a simpler explanation. Halved: half
of a part is.
"""

FACTOR_NEAR_ONE = 1e-4
"""Unit: part of the factor. A factor this near to one is written as its difference from one, of
which six digits would show nothing. Doubled or halved: a few factors are written the other way.
"""

FACTOR_MOST_DENOMINATOR = 1000
"""Unit: denominator. Means run over at most this many entries in cases that are checked in full.
With `FACTOR_EXACT` about one fraction up to here fits any factor near one by chance, since the
sum of 2e-6 * q over all denominators q is one. Doubled: four of them. Halved: a mean over 600
entries is written as 0.00166667.
"""

FACTOR_MOST_PLAIN_DENOMINATOR = 32
"""Unit: denominator of a fraction such as 7/8, which is left where n - 1 stands for n. There are
five hundred below two, so that one factor in a thousand is one by chance. Doubled: one in 250.
Halved: counts of more than 16 are decimals.
"""

MONOMIAL_MOST_ENTRIES = 400
"""Unit: entries of the Jacobian. A product of two powers has three unknowns, so 400 equations are
plenty; the fit is then tried on all entries. Doubled: twice the time of each least-squares fit.
Halved: nothing.
"""

MONOMIAL_SPARE_ENTRIES = 1
"""Unit: entries beyond the unknowns. A fit through as many entries as unknowns always succeeds;
one more must agree. Doubled: Jacobians with four entries get no such hint. Halved (0): any wrong
gradient of three entries is named a product of powers.
"""

MONOMIAL_FIT = 1e-5
"""Unit: part of the ratio. Ten times `DOUBLE_RTOL`, since a ratio has the error of both sides.
Doubled: products that fit by chance to 2e-5 are named. Halved: values with an error of 1e-5 have
no product named.
"""

MONOMIAL_POWER_PARTS = 2
"""Unit: parts of one. Powers are multiples of 1/2: roots and whole powers are what formulas have.
Doubled: fourth roots are named too, which are found by chance more often than meant. Halved: only
whole powers, and a forgotten square root has no name.
"""

MONOMIAL_LARGEST_POWER = 4.0
"""Unit: power. Mistakes leave out a factor or two. Doubled: eighth powers of nearly constant
inputs fit by chance. Halved: a cube cannot be named.
"""

MONOMIAL_POWER_DIFFERENCE = 1e-3
"""Unit: difference of a fitted power from a multiple of 1/2, and relative size below which the
least squares drop a direction. With ratios right to 1e-5 powers are right to 1e-3 if the inputs
vary by a percent. Doubled or halved: nearly constant inputs are taken for a factor later or
sooner.
"""

# ---- rearranged, swapped, taken elsewhere ---------------------------------------------------

SAME_FOR_ANY_COTANGENT = 1e-6
"""Unit: part of the gradient. Backward is said to ignore its cotangent if it returns the same for
every one; roundings are far below. Doubled or halved: nothing, other backwards differ by a half.
"""

PERMUTED_MOST_AXES = 4
"""Unit: axes. 4! = 24 permutations are tried. Doubled: 40,320 of them. Halved: permutations of
images (four axes) have no name.
"""

ROLLED_MOST_SHIFTS = 32
"""Unit: places along an axis. Rolls are off by one or by a window. Doubled: twice the time where
nothing fits. Halved: rolls by 16 and more have no name.
"""

REARRANGED_NORM_DIFFERENCE = 1e-2
"""Unit: part of a row's norm. A rearranged row has the same norm; this is only to spare the trial
of all orders. Doubled: more trials for nothing. Halved: float16 Jacobians are not tried.
"""

AT_OUTPUT_MOST_COLUMNS = 256
"""Unit: columns. The derivative at the output costs two evaluations for each. Doubled: twice the
evaluations in a check that has failed. Halved: inputs of 16 x 16 have no such hint.
"""

AT_OUTPUT_STEP = 1e-5
"""Unit: absolute step, in double precision. Near the cube root of eps, 6e-6, for values of size
one; its error of 1e-10 is far below the tolerance of the comparison. Doubled: 4e-10. Halved: no
change.
"""

REGION_LEAST_SHARE = 0.05
"""Unit: share of the array. A threshold that sets less apart would fit a few wrong entries by
chance. Doubled: masks over less than a tenth have no name. Halved: arrays of 40 entries may have
a single wrong one explained by a threshold.
"""

REGION_LEAST_CHOICES = 100
"""Unit: ways to choose as many entries as lie beyond a threshold. Wrong entries that have nothing
to do with a threshold are all on one side of some threshold once in about this many times. Doubled:
arrays of ten entries with three wrong ones get no such hint. Halved: those of eight do, and one
such hint in a dozen is an accident.
"""

FEW_DIGITS_DIFFERENCE = 1e-3
"""Unit: part of each entry. A gradient that is right to this much everywhere was rounded, or
computed in float16 (1e-3); a wrong formula is off by more somewhere. Doubled: a wrong constant of
0.2 percent is called rounding. Halved: float16 is not recognized.
"""

SAME_STEP_RTOL = 1e-3
"""Unit: part of the slope of an output of steps whose size comes from the input. Central
differences of a forward in single precision err by 3e-5. Doubled: outputs that change in
proportion to themselves within 0.2 percent count as one step. Halved: steep single-precision
quantizers are no longer recognized.
"""

STRAIGHT_THROUGH_STEP = 1e-5
"""Unit: the input's own. Step of the central difference of a forward without rounding. Doubled: the
curvature of a scale of 0.1 is seen. Halved: a tenth of the difference of large outputs is noise.
"""

STRAIGHT_THROUGH_RTOL = 1e-6
"""Unit: part of the largest entry of the gradient. Central differences of forwards without rounding
err by 1e-9. Doubled or halved: no change for a scale of 0.1 or more.
"""

STRAIGHT_THROUGH_MOST = 256
"""Unit: entries of an argument, each of which costs four forwards. Doubled: half a second for a
slow quantizer. Halved: the gradients of images are not recognized.
"""

TELLING_DIGITS = 3
"""Unit: significant digits of a constant of forward whose multiples are sought in backward. Two
formulas do not share as many by chance. Doubled: 0.0447 is not recognized in 0.134. Halved: 2 * 0.5
is found in any 1.
"""

HIGHEST_POWER = 6
"""Unit: multiples of a constant that the derivative of a power has. Doubled: powers that nobody
writes. Halved: only squares and cubes.
"""

# ---- what a message and a report show -------------------------------------------------------

LISTED_ENTRIES = 3
"""Unit: entries named in a hint. Doubled: hints of two lines. Halved: a pair of entries cannot be
named. Three fit into a line with the rest of the words.
"""

SHOWN_DIGITS = 6
"""Unit: significant digits of a number in a message. As C's %g: single precision has seven.
Doubled: messages show roundings. Halved: 0.3333 and 0.3334 look the same, until `apart` adds
digits.
"""

MOST_SHOWN_DIGITS = 17
"""Unit: significant digits. 17 tell any two numbers of double precision apart (IEEE 754).
Doubled: digits that mean nothing. Halved: numbers that differ by 1e-9 are shown as equal.
"""

BLOCK_SIZE = 24
"""Unit: rows, and columns, of the part of a Jacobian that a report keeps. 24 columns fit a page
of the HTML report. Doubled: reports four times as large. Halved: Jacobians of 5 x 5 images are
cut.
"""

BLOCK_DIGITS = 10
"""Unit: significant digits of values in that part: more than `DOUBLE_RTOL` can tell apart.
Doubled: twice the size of a report, with digits of roundings. Halved: differences of 1e-6 are not
seen.
"""

BLOCK_FEW_DIGITS = 3
"""Unit: significant digits of errors and differences, of which only the size matters. Doubled:
larger reports. Halved: 1.4 and 1 look the same.
"""

# ---- the step of forward that was forgotten --------------------------------------------------

EXPLAINED_PRECISION = 0.6
"""Unit: exponent of the rounding unit; parts of the largest entry of a gradient. A backward and the
recorded forward that compute the same agree to 4e-10 in double precision and to 7e-5 in single.
Doubled: no two ways of computing agree. Halved: small parts of a gradient explain any difference.
"""

EXPLAINED_LEAST = 3
"""Unit: entries of a gradient. That of one number is a multiple of any part of it, which explains
nothing. Doubled: multiples of short gradients are named only where they are simple. Halved: two
entries that have one sign may fit a multiple by chance.
"""

EXPLAINED_FACTOR_DIFFERENCE = 1e-3
"""Unit: difference of two factors. The factor of a mistake in a formula is the same at each
cotangent and point, but for rounding. Doubled: a factor that depends on the input may pass for one
that does not. Halved: single precision explains less.
"""

EXPLAINED_SHIFT = 2.0**-6
"""Unit: parts of the input's scale. How far away an explanation is tried again. Doubled: branches
of forward change. Halved: what holds by accident at one point may hold there too.
"""

LONGER_AXES_SHIFT = 0.03
"""Unit: parts of an entry. By how much entries of longer axes differ from those that they repeat.
Doubled: rows of shares no longer have sums near one. Halved: sums of nearly equal entries cancel.
"""

LONGER_AXES_MOST = 400
"""Unit: entries of a point with longer axes. Doubled: explanations take longer, where extents as
long are equal by chance less often. Halved: those of an attention hold at its own extents only.
"""

STEPS_MOST = 200
"""Unit: steps of forward that are tried; each costs a backward. Doubled: seconds of work for a
large forward. Halved: a long forward is explained by its last steps only.
"""

STEPS_IN_PAIRS = 8
"""Unit: variables of forward that are tried two by two; their pairs are 28. Doubled: 120 more
runs of backward. Halved: a layer norm has more variables.
"""

ALTERATIONS_MOST = 600
"""Unit: alterations of forward that are tried; each costs a forward and a backward. Doubled:
seconds of work where nothing fits. Halved: an attention has more of them.
"""

ALTERATIONS_PART = 0.5
"""Unit: part of the time for explanations that alterations of forward get. Doubled: a forward of
hundreds of rounds leaves none for edits of a backward that costs little. Halved: fewer of the
alterations that say more than an edit are tried.
"""

REPAIRS_MOST = 4000
"""Unit: edits of backward that are tried where no alteration of forward explains a gradient; each
costs a backward. Doubled: seconds of work where nothing fits. Halved: the factors, which come last,
are left out of a long backward.
"""

APPROXIMATION_GAIN = 0.5
"""Unit: part of an error that is left when a step is an eighth as long or a loop eight times as
long, twice in a row: an error of first order leaves an eighth, one of half an order a third.
Doubled: any number that matters little. Halved: approximations of half an order have no name.
"""

MENDED_LEAST = 0.5
"""Unit: part of the wrong entries that an edit makes right without making others wrong, to be named
as a part of the mistake. Doubled: only an edit that explains all has a name. Halved: a diagonal
that is right by chance is taken for a part.
"""

MENDING_MOST = 5
"""Unit: such edits, those that make most entries right, that are tried at other points. Doubled:
ten more runs of backward. Halved: the right one may come behind some that are right by chance.
"""

MASKED_MOST_SHOWN = 3
"""Unit: entries that a hint names in which a mask is wrong. Doubled: a line that nobody reads to
its end. Halved: two rows of a batch do not show what they have in common.
"""

MEASURED_LEAST_ENTRIES = 3
"""Unit: entries of the numeric Jacobian that are not zero. Where no exact derivative can be had at
another point, fewer numbers agree with some edit by chance. Doubled: losses of a few numbers have
no edit named. Halved: a single slope is explained by any factor that has its size.
"""

MEASURED_LOOKS = 2
"""Unit: cotangents for which an edit has to return the numeric gradient, beside that of the case.
Doubled: two more runs of backward. Halved: one number of a cotangent may hide a wrong entry.
"""

EXPLANATION_SECONDS = 12.0
"""Unit: seconds of processor time for the searches above, for all gradients of a case. A forward of
a hundred steps takes a millisecond, and 600 alterations of it one second. Doubled: a loop of a few
hundred turns reaches the time limit of its Function before its finding is reported. Halved: no hint
for some of the Functions that take ten milliseconds.
"""

# ---- the rearrangement of a gradient of the wrong shape ---------------------------------------

REFITTED_RTOL = 1e-3
"""Unit: parts of the terms of a product of a gradient and a direction. Central differences with a
step of the cube root of the rounding unit err by 3e-5 in single precision, and a wrong candidate is
off by parts of order one. Doubled: one in 500 wrong candidates fits a direction, and one in 250,000
both. Halved: steep functions in single precision get no advice.
"""

REFITTED_MOST_AXES = 4
"""Unit: axes of a gradient, whose 24 orders are all tried. Doubled: 40,320 orders. Halved: images
get no advice.
"""

FITTED_CHANGE = 0.05
"""Unit: part by which a mistyped number may differ from the one that is meant. Doubled: another
mistake is explained by a number that has nothing to do with it. Halved: a mistyped second digit
has no explanation.
"""

FITTED_ENTRIES = 3
"""Unit: entries of a gradient that a number has to move; any number fits a single one. Doubled: a
number of a short vector is not fitted. Halved: one fits by chance.
"""

FITTED_REST = 0.01
"""Unit: part of an error that may be left where a gradient is taken to be linear in a number.
Doubled: numbers are tried in vain. Halved: nothing is fitted where rounding is coarse.
"""
