"""Closeness of analytic and numeric values, and sizes that are too small to compare."""

# ---- the tolerance of an entry --------------------------------------------------------------

SINGLE_EPS = 2.0**-23
"""Unit: relative spacing of float32, by IEEE 754. Distinguishes dtypes. Doubled or halved:
float32 would be compared as half or as double precision. Not to be tuned.
"""

DOUBLE_EPS = 2.0**-52
"""Unit: relative spacing of float64, by IEEE 754. Distinguishes dtypes. Doubled or halved:
float64 would be compared as single precision, or nothing changes. Not to be tuned.
"""

DOUBLE_RTOL = 1e-6
"""Unit: part of the numeric value. An extrapolated quotient in double precision has an error of
1e-9 to 1e-7; torch's gradcheck allows 1e-3. Doubled: mistakes of 2e-6 pass. Halved: functions
with a condition number of 1e9 have no more digits than this. Tried halved: no verdict in the zoo
changes; at 0.1 six of its mistakes pass.
"""

SINGLE_RTOL = 1e-3
"""Unit: part of the numeric value. A backward in float32 with a condition number of 1e4 keeps
1e-3. Doubled: mistakes of 0.2 percent pass. Halved: right float32 gradients that cancel are
blamed.
"""

HALF_RTOL = 1e-2
"""Unit: part of the numeric value. float16 and bfloat16 resolve 1e-3 and 8e-3; a sum of ten
float16 terms keeps 1e-2. Doubled: mistakes of 2 percent pass. Halved: right gradients in bfloat16
fail.
"""

TELLING_TOLERANCE = 0.5
"""Unit: part of the numeric value. A forgotten factor of two, the commonest mistake, makes half of
an entry or twice as much; a tolerance of that size accepts it, and the entry is no evidence.
Doubled: an `rtol` of 0.9 lets gradients of half the size pass. Halved: tolerances of 0.3, which
some give to float16, count as no comparison.
"""

GRADIENT_ROUNDINGS = 100.0
"""Unit: roundings of the largest entry in the row or column. An entry that is computed together
with larger ones carries their roundings; a sum of n terms about sqrt(n) of them. Doubled: wrong
entries 2e-14 times the largest pass. Halved: sums over more than 2500 terms are blamed. Tried
halved: no verdict in the zoo changes.
"""

UNDERFLOW = {True: 1e-290, False: 1e-36}
"""Unit: absolute; for double precision, and below it. The smallest normal numbers are 2e-308 and
1e-38; products of factors that underflow on the way leave about a hundred times that. Doubled or
halved: nothing but the last bit of numbers that are next to underflow.
"""

# ---- how well the numeric side must be known ------------------------------------------------

MEANINGFUL_ERROR = 1e-3
"""Unit: part of the largest entry of the block. A numeric value that is known worse decides
nothing: a gradient wrong by a part in a thousand of its block would pass. Doubled: noisy
functions pass with 0.2 percent. Halved: some noisy functions become unverified (GT603).
"""

MEANINGFUL_ROUNDINGS = 1e5
"""Unit: roundings. The same in units of the precision, where that is coarser: 1.2e-2 for float32,
two thirds of whose digits a difference quotient costs. Doubled: 2.4e-2 in float32. Halved: more
float32 functions that refuse double precision become unverified.
"""

MEANINGFUL_ERROR_AT_MOST = 0.1
"""Unit: part of the largest entry of the block. The bound for half precision, where the two
others would allow everything: an error of a tenth still shows a sign or a factor of two. Doubled:
a factor of 1.2 passes in float16. Halved: most float16 functions become unverified.
"""

ROUGHLY_KNOWN = 0.1
"""Unit: part of the entry. An entry whose error is below the rounding floor of its output counts
as verified if it is known to this part: then its sign and size are right. Doubled: to 20 percent.
Halved: more entries of functions with a large constant are unverified.
"""

NEXT_TO_NOTHING = 1e-12
"""Unit: absolute, also as a move of the output over the input's scale. An entry that is smaller,
error included, on both sides is verified whatever its relative error, where the rounding floor
allows it. Doubled or halved: entries between half of
this and twice this change between verified and unverified.
"""

ADDITIVE_SLOPE_DIFFERENCE = 1e-3
"""Unit: part of the sum of the slopes' sizes. Where a function has a derivative, slopes along the
coordinates add up to the slope across them; where they miss by more there is none. Doubled: kinks
of 0.2 percent off the axes are blamed on backward. Halved: smooth functions known to 1e-3 only,
in single precision, count as without a derivative.
"""

ROUNDED_DIFFERENCE = 1e-6
"""Unit: part of the largest entry of all Jacobians. Only smaller differences may be roundings
inside backward, and have its sensitivity to rounding measured: 1e-6 is a loss of ten digits.
Doubled: mistakes of 2e-6 in small entries can pass if backward is noisy. Halved: fewer are
excused.
"""

# ---- the third derivative -------------------------------------------------------------------

THIRD_DERIVATIVE_ROUNDINGS = 64.0
"""Unit: times the slope below which a second derivative is lost in roundings. Each
differentiation divides by the scale again and adds terms. Doubled or halved: GT204 judges fewer
or more entries that are nothing but roundings.
"""

THIRD_DERIVATIVE_RTOL = 1e-2
"""Unit: part of the numeric value. A difference quotient of a second derivative, which autograd
has computed from a formula of many terms, keeps fewer digits; a missing term costs more than a
percent. Doubled: terms of 2 percent may be missing. Halved: right formulas that cancel are
blamed.
"""

# ---- batched runs compared with single ones -------------------------------------------------

BATCHED_OUTPUT_ROUNDINGS = 256.0
"""Unit: roundings of the largest entry. A batched matrix product may add up in another order,
which changes sums of n terms by sqrt(n) roundings. Doubled: batches that are slightly wrong are
used, but only ever to let something pass. Halved: products over 16,000 terms are evaluated one by
one.
"""

BATCHED_ROW_DIFFERENCE = 1e-9
"""Unit: part of the largest entry of a row. The same for gradients in double precision, which go
through more operations; far below `DOUBLE_RTOL`. Doubled: as before. Halved: ill-conditioned
backwards run row by row, at some cost in time.
"""

BATCHED_ROW_ROUNDINGS = 64.0
"""Unit: roundings of the largest entry of a row; the bound below double precision, where 1e-9 is
less than a rounding. Doubled: 1.5e-5 in float32, still far below `SINGLE_RTOL`. Halved: long sums
in float32 run row by row.
"""

# ---- a wrong entry that was located ---------------------------------------------------------

LOCATED_NOISE_ROUNDINGS = 8.0
"""Unit: roundings of the output, over the step. The error of the one quotient that confirms a
located entry, besides its change from step to step; a central quotient has two outputs of
`OUTPUT_ROUNDINGS` each, and twice that for safety. Doubled: small located mistakes are dropped.
Halved: noise can confirm an entry that is right.
"""

LOCATED_REMAINDER = 1e-3
"""Unit: part of the disagreement. If one entry explains all but this much of what a random
direction shows, no other entry is said to be wrong. Doubled: another mistake 500 times smaller is
not spoken of. Halved: truncation of the quotient leaves more than that, and no mistake ever
stands alone.
"""

# ---- kinks that are only near ---------------------------------------------------------------

TIE_ROUNDINGS = 16.0
"""Unit: roundings of a number of the input's size. Within them numbers are equal, and forward's
comparison of them is a tie: a few operations leave as much. Doubled or halved: near kinks count as
ties at gaps up to twice or half of 4e-15.
"""

TIE_NOISE = 64.0
"""Unit: bounds on the noise, over the difference of the slopes. The same where forward computes
with numbers larger than its inputs. Doubled or halved: as for `TIE_ROUNDINGS`.
"""

TIE_LOOKS = 4
"""Unit: diagonals, with two looks each. One shows both sides of a tie of one input; two tied inputs
may move alike along one. Doubled: 16 more runs of the witness. Halved: one tie of 4 between two
inputs is taken for none.
"""

TIE_ROWS = 16
"""Unit: rows of the Jacobian, those with the largest differences. A tie that explains the others
and not these leaves the gradient wrong. Doubled: 256 more runs of the recorded backward for a wrong
gradient of many outputs. Halved: nothing changes that is known.
"""

BESIDE_KINK = 2.0**-20
"""Unit: part of the input's scale. Evaluations that see a kink have seen it from at least a tenth
of this. Doubled or halved: curvature changes the slopes by a millionth more or less.
"""

HULL_LOOKS = 8
"""Unit: directions, with two looks each at the gradients around a tie. Doubled: a gradient at a tie
takes twice as long to judge. Halved: more directions are tried along which nothing stands out.
"""

HULL_ROUNDS = 6
"""Unit: further pairs of looks, each along the direction in which the gradient stands out. Doubled:
ties of more than 20 entries are judged too. Halved: one of 10 may not be.
"""

HULL_STEPS = (2.0**-17, 2.0**-20)
"""Unit: part of the input's scale. Steps at which forward is evaluated next to a tie, both of which
have to convict. Doubled or halved: curvature of 100 hides a mistake, or does not.
"""

HULL_DIFFERENCE = 1e-3
"""Unit: part of the slopes' terms. A share of a tie of 500 entries is larger. Doubled: one of a tie
of 250. Halved: roundings of float32 in the slopes count as a difference.
"""

HULL_NOISE = 1e3
"""Unit: roundings of the outputs that may be in a slope next to a tie. Doubled or halved: nothing
in the zoo.
"""

HULL_PROJECTION_STEPS = 200
"""Unit: steps towards the nearest mean of the looks, of which half find two digits. Doubled: takes
longer. Halved: a direction is proposed that stands out a little less.
"""

HULL_MOST_ROWS = 16
"""Unit: outputs with a tie that are judged, at six evaluations each. Doubled: large Functions take
longer where all of their inputs are equal. Halved: a mistake in few of many outputs is missed.
"""

TRIANGLE_LOOKS = (1.0, 2.0**-10, 2.0**-24, 2.0**-38)
"""Unit: part of the matrix's scale. Moves of one triangle, after which the outputs of a function
that does not read it are the same to the last bit: a large one and a small one, since outputs may
be cut off, and two that pass for symmetric with allclose. Doubled or halved: nothing in the zoo.
"""

# ---- rows that are products with random cotangents ------------------------------------------

PROJECTED_ROUNDINGS = 1e4
"""Unit: roundings of the root mean square of a column's sum. Two programs for one derivative
differ by the condition of both, and what is farther apart is compared entry by entry. Doubled:
one entry wrong by 4e-12 of a column's norm passes. Halved: more right Functions pay for the full
comparison.
"""

PROJECTED_STEP = 2.0**-17
"""Unit: part of the inputs' own size. The cube root of the spacing of float64, where truncation
and rounding of a central quotient are alike, at 1e-10. Doubled or halved: twice as much of one.
"""

PROJECTED_DIFFERENCE = 1e-6
"""Unit: part of the derivative along the direction. Evaluations that differ by more contradict
the witness. Doubled: a path that both sides miss may be 2e-6 of the whole. Halved: functions of
large curvature pay for the full comparison.
"""

PROJECTED_ERROR = 1e-4
"""Unit: the same. A quotient that is known worse confirms nothing. Doubled or halved: more or
fewer functions that are noisy pay for the full comparison.
"""

PROJECTED_GAP = 0.75
"""Unit: part of the gap between one-sided quotients at twice the step. It is a half where there is
a second derivative, and one at a kink. Doubled: kinks pass for smooth. Halved: everything pays for
the full comparison.
"""

PROJECTED_BEND = 2.0**-14
"""Unit: part of the derivative along the direction. The gap between the quotients of both sides of
one step below which a second, narrower one is not needed: 8 times the step. Without a kink it is
the step times the curvature, in the inputs' own size. Doubled: a kink of one entry in 10^8 passes
for smooth instead of one in 2.7*10^8. Halved: functions with a curvature of 4 pay for the narrower
step.
"""

PROJECTED_SPREAD = 1e-12
"""Unit: part of the array's typical size. A smaller entry is moved far from where it is, along
directions of the others' size; of a million normal numbers none is. Doubled or halved: nothing but
arrays of such numbers.
"""

LEFT_OUT_BY_SOFTPLUS = 4e-9
"""Unit: part of an entry. Beyond 20, `softplus` takes its argument for its value and so leaves out
e**-20, 2e-9: a sigmoid is as good a derivative as one. Doubled: mistakes of 8e-9 beside a softplus
pass. Halved: right gradients are reported (GT118).
"""
