"""Tolerances and search ranges of single rules."""

# ---- two runs that should agree -------------------------------------------------------------

SAME_GRADIENT_ROUNDINGS = 1e4
"""Unit: roundings of the largest entry. Runs in another layout, batch or order add up otherwise
and choose other kernels; a condition number of 1e4 is granted to them. Doubled: differences of
4e-12 in float64 pass. Halved: long float32 sums, right in any order, are reported (GT108 to
GT113).
"""

JITTER_POINTS = 5
"""Unit: points, close together, that show how smooth a result is. Doubled: twice the
evaluations of a difference that is looked into. Halved: results that are only roundings are
equal at all points by chance now and then, and reported (GT107 to GT112).
"""

SAME_GRADIENT_JITTERS = 30.0
"""Unit: second difference of the gradient at points next to each other. A Function that
computes in float32 inside rounds each term anew in another layout or order; the second difference
is the sum of four such roundings at one entry, and other entries may have some times as much.
Doubled: mistakes of 60 roundings pass in a backward that loses its digits at every point. Halved:
sums of hundreds of float32 terms are reported (GT107 to GT112).
"""

REPEATED_RESULT_ROUNDINGS = 100.0
"""Unit: roundings of the largest entry. The same run twice differs only by parallel sums and by
the alignment of memory. Doubled: changes of 4e-14 by backward pass. Halved: parallel sums on a
GPU may differ so much.
"""

VMAP_ROUNDINGS = 1e4
"""Unit: roundings of the largest entry of an output. As `SAME_GRADIENT_ROUNDINGS`, for outputs
under vmap. Doubled: differences of 4e-12 pass. Halved: batched products in float32 are reported.
"""

ADJOINT_ROUNDINGS = 1e5
"""Unit: roundings of the largest sum of terms. jvp and backward are two formulas, each with its
own condition number. Doubled: terms of 4e-11 may be missing in one of them. Halved: right pairs
of formulas that cancel differently are reported (GT302).
"""

ENGINES_DIFFERENCE = 1e-5
"""Unit: part of the largest entry. PyTorch computes some functions in another order, or parts of
them in single precision (6e-8, times a condition number of 100). Doubled: differences of 2e-5
pass. Halved: such functions are reported (GT702).
"""

ENGINES_COTANGENT_ROUNDINGS = 64
"""Unit: roundings of the largest cotangent. Where factors cancel, as in 1 - tanh(x)**2 far out,
they are all that is left of a gradient. Doubled or halved: gradients of 1e-14 are compared a
little less or more strictly.
"""

JVP_ROUNDED = 2.0**-20
"""Unit: part of the largest sum of terms. Eight roundings of single precision: a jvp that
computes in it is off by so much, and is GT302's to report, not GT301's. Doubled: mistakes of 2e-6
are reported by GT302. Halved: float32 inside a jvp is reported as a wrong formula.
"""

JVP_NEARLY = 1e-2
"""Unit: part of the entry's own terms. An entry that is off by more is wrong, not rounded,
however small it is. Doubled or halved: entries near 1e-4 of the largest change between GT301 and
GT302.
"""

JVP_NEARLY_WHOLE = 1e-6
"""Unit: one. Distance of a factor between two tangents from the whole number that it is but for
roundings. Doubled or halved: nothing in the zoo; a factor of 1.000001 is worded as such.
"""

# ---- the linearity of backward --------------------------------------------------------------

COTANGENT_FACTORS = (-1.0, 8.0, 0.125, 0.0)
"""Unit: times the cotangent. The sign, a larger, a smaller and a zero cotangent; powers of two,
which change no rounding. Doubled: -2, 16, 0.25, 0 find the same. Halved: -0.5, 4, 0.06 find the
same; clipping at 5 needs a factor above 5.
"""

FAR_COTANGENT_FACTORS = (2.0**12, 2.0**-20)
"""Unit: times the cotangent. Thresholds such as 1e3 or 1e-5 lie beyond the usual cotangents.
Doubled or halved: thresholds at 4e3 to 8e3, or near 1e-6, are found or not.
"""

PARTS_DIFFERENCE = 2.0**-10
"""Unit: part of the largest entry. A backward that iterates to a tolerance gives for a sum of
cotangents not quite the sum of its gradients; another path for ones or zeros is off by much more.
Doubled or halved: iterations that stop at 1e-3 are granted, or reported (GT107).
"""

STARTING_POINT_REST = 2.0**-10
"""Unit: part of the largest output. What an iteration leaves of its starting point is below its
tolerance, 1e-3 at the most. Doubled or halved: iterations that stop at 2e-3 are granted to depend
on it, or those that stop at 1e-3 are asked for its gradient (GT106).
"""

STARTING_POINT_JUMP = 0.75
"""Unit: part of the largest change between two looks. Smooth outputs change by nearly as much from
the next look to the one after; where the iteration takes one step more, all changes at once.
Doubled: only jumps there and back count. Halved: waves of 20 looks count as jumps (GT106).
"""

STARTING_POINT_LOOKS = 129
"""Unit: points from a starting point to one that is farther by its size. Doubled: smooth outputs
change less between two looks, for twice the calls. Halved: waves of a tenth of that size look like
jumps (GT106).
"""

# ---- other calls and other points -----------------------------------------------------------

OTHER_CALL_SHIFT = 2.0**-3
"""Unit: part of the input's scale. The other call of GT111 gets a point 12 percent away: other
values in every buffer, and still in the domain. Doubled: leaves domains more often, then the call
is skipped. Halved: nothing; values differ all the same.
"""

LATER_CALL_SHIFT = 2.0**-3
"""Unit: part of the input's scale. As `OTHER_CALL_SHIFT`, for a later call that might get the
first one's gradient. Doubled: leaves domains more often. Halved: a stale gradient is right to 6
percent.
"""

LATER_CALL_LOOKS = 4
"""Unit: random directions. A gradient that is wrong may look right along one: four miss it
rarely. Doubled: a few evaluations more. Halved: a stale gradient with one wrong entry in many is
missed.
"""

OTHER_POINT_FACTORS = (1 / 16, 4.0, -1.0)
"""Unit: times the input. GT506 tries points where a branch or a saturation lies elsewhere: near
zero, far out, and of the other sign. Doubled: 1/8, 8 and -2; saturated outputs show no mistake.
Halved: 1/32, 2 and -0.5, and thresholds between 2 and 4 are not crossed.
"""

OTHER_POINT_SHIFT = 0.5
"""Unit: part of the input's scale. For inputs of zero, no multiple of which is another point.
Doubled: leaves domains such as 1 - x**2 > 0. Halved: branches further than a quarter away are not
met.
"""

INTERMEDIATE_LOOKS = 3
"""Unit: random directions at each point. What is wrong may cancel along one. Doubled: twice the
evaluations. Halved: one look, which misses a mistake whose parts cancel to
`SPOT_CHECK_DIFFERENCE`.
"""

# ---- batches --------------------------------------------------------------------------------

EXAMPLE_SHIFT = 2.0**-4
"""Unit: part of the input's scale. How far the examples of a batch lie from the case's own point:
far enough to differ, close enough to be in the domain. Doubled or halved: batches that leave the
domain are skipped more or less often.
"""

BATCH_LENGTHS = (3, 2, 5, 7, 4)
"""Unit: examples. The first that is no extent of the inputs, so that a confused dimension shows.
Not one of them is 1, which broadcasts. Doubled: 6 and more, twice the calls. Halved: 1 and 2, and
1 hides what broadcasts.
"""

BATCH_LONGEST_EXTENT = 32
"""Unit: examples. Batches as long as an extent of the inputs show code that finds its dimension
by length; longer ones cost too much. Doubled: twice the calls in such cases. Halved: extents of
17 to 32 are not tried.
"""

BATCH_LONGEST_MIXED = 8
"""Unit: examples. Batches as long as an extent are tried along other dimensions too, up to this
length. Doubled: twice the calls for cases with long extents. Halved: code that guesses the
dimension by its length is found only for extents up to 4.
"""

BATCH_MOST_MIXED = 4
"""Unit: placings of batches as long as an extent: of two arguments, all with both batched. Doubled:
up to twice the calls for three arguments and more. Halved: all first and all last remain, where
one argument's dimension is that of the others.
"""

BATCHED_COTANGENTS = 3
"""Unit: cotangents in a batch (GT402): prime, and rarely an extent of the output. Doubled: twice
the runs of backward. Halved: a batch of one, which broadcasts and hides mistakes.
"""

NEEDED_MOST_ARGUMENTS = 8
"""Unit: arguments that GT109 takes one by one, with two runs each. Doubled: 32 runs at most.
Halved: mistakes in the fifth argument's flag are found only with the others.
"""

THIRD_DERIVATIVE_MOST_ENTRIES = 40
"""Unit: entries of inputs and outputs together. The cost of a third derivative grows with the
square. Doubled: four times the cost. Halved: cases of 5 x 5 are not judged by GT204.
"""

# ---- randomness and outputs without a graph -------------------------------------------------

RANDOM_FORWARD_SEED = 0
"""Unit: seed of the global generators, the same for both calls of GT508. Doubled or halved: any
seed will do.
"""

UNGRAPHED_STEP = 2.0**-14
"""Unit: part of the input's scale. A smooth function's answer to half this step is half the
answer to 1e-4; its own rounding, 64 units over the step, is 1e-10. Doubled or halved: the same
for smooth functions; noisier or more curved ones are overlooked.
"""

UNGRAPHED_PROPORTION = 0.05
"""Unit: part of the answer. Half a step gives half an answer to this much, or the output jumps,
as argmax and rounding do, which may be marked as non-differentiable. Doubled: a jump in ten small
ones looks like a slope. Halved: curved functions are not reported by GT115.
"""

# ---- the same case in another dtype ---------------------------------------------------------

DTYPE_OUTPUT_DIFFERENCE = 1e-3
"""Unit: part of the largest output. Two precisions compute the same if outputs agree so well;
float32 with a condition number of 1e4 does. Doubled or halved: GT117 judges more or fewer
functions.
"""

DTYPE_GRADIENT_DIFFERENCE = 1e-2
"""Unit: part of the largest entry. A gradient in single precision keeps two digits, or is wrong.
Doubled: mistakes of 2 percent that only float32 shows pass. Halved: ill-conditioned gradients are
looked at again, and most are then recognized as made of roundings.
"""

DTYPE_GRADIENT_ROUNDINGS = 1e4
"""Unit: roundings of the outputs, over the input's size: 1e-3 in float32. What cancels in a
gradient that is small next to its outputs. Doubled or halved: the same gradients are excused from
2e-3 or from 6e-4 on.
"""

DTYPE_LOST_ROUNDINGS = 32.0
"""Unit: roundings of an output's own entry. More than 32 lost from one precision to the other say
that forward cancels too, and nothing is reported. Doubled: notes for outputs that lost six bits.
Halved: ordinary sums silence the rule.
"""

ERRATIC_SHIFTS = (2.0**-4, 2.0**-2) * 12
"""Unit: parts of each entry. 24 points around the case, near and not so near, show whether a
mistake stays. Doubled: signs change. Halved: errors made of roundings are still other ones at
each point.
"""

ERRATIC_FADED = 0.3
"""Unit: part of the first difference. A mistake keeps its sign and about its size nearby; one of
roundings turns or shrinks. Doubled: mistakes that vary by half are excused. Halved: roundings are
recognized less often and reported.
"""

ERRATIC_GONE = 1e-3
"""Unit: part of the first difference. Below it the mistake does not occur at that point at all,
as a branch does not, which says nothing. Doubled or halved: nothing; roundings do not vanish so
well.
"""

ERRATIC_SEVERAL = 3
"""Unit: points of 24. A branch may make a mistake fade at one or two points. Doubled: roundings
that fade at five points are reported. Halved: one point excuses a mistake.
"""

IMAGINARY_PART = 0.5
"""Unit: part of the largest entry. A real case becomes complex by imaginary parts of half its
size: large enough that a missing conjugate shows. Doubled: logarithms and roots cross branch cuts
more often. Halved: still seen.
"""

# ---- settings that are not needed -----------------------------------------------------------

NEEDLESS_TOLERANCE_FACTOR = 10.0
"""Unit: times. GT511 notes a tolerance of which a tenth would do: one digit more than needed.
Doubled: 20 times too loose before it says so. Halved: tolerances set with a margin of five are
noted, and change with the seed.
"""

# ---- imprecise gradients --------------------------------------------------------------------

IMPRECISE_ROUNDINGS = 1e4
"""Unit: roundings of the largest entry in the row or column. A backward may sum up its terms in
another order than the derivative of forward, and have a condition number of 1e4. Doubled: a
constant that is off by 4e-12 passes. Halved: long sums are looked at more often, at some cost.
"""

IMPRECISE_LOOKS = 3
"""Unit: points that differ from the case's in their last digits. Doubled: twice the cost, only
where something is off. Halved: one point, at which a rounding may happen to be the same.
"""

IMPRECISE_SAFETY = 1000.0
"""Unit: times the largest change seen between such points. What both sides lose in rounding is
of the size of these changes. Doubled: mistakes of 500 roundings times the condition number pass.
Halved: nothing in the zoo.
"""

IMPRECISE_UNSTEADY = 0.1
"""Unit: part of the difference. A mistake in a formula is the same at points that differ in their
last digits. Doubled or halved: nothing in the zoo; roundings change by all of their size.
"""

SAME_CONSTANT = 1e-3
"""Unit: part of the number. A constant with three digits or more may be another one cut short.
Doubled: 0.5 and 0.501 are taken for one constant. Halved: 0.798 for 0.79788 is not named.
"""

# ---- surrogate gradients --------------------------------------------------------------------

STEP_SHIFTS = (1.0, 4.0, 64.0)
"""Unit: the input's own. Moves after which a step, whose derivative is zero, has another value:
those of rounding, of quantizers with a coarse grid, and of thresholds far away. Doubled or halved:
a threshold near 100 is missed, or one near 50.
"""

STEP_STILL = 0.8
"""Unit: part of the outputs. A step leaves that many alone when the last digits of its argument
change; the others happen to lie on an edge. Doubled: no step is recognized. Halved: half of a
relu is flat.
"""

STILL_MOVE = 1e-5
"""Unit: 1 + |input|. A move that changes a result in float32, whose digits are 1e-7 apart,
unless it is flat there. Doubled: one point in 50,000 beside an edge is not recognized. Halved:
slopes below 0.01 are not seen.
"""

REPEATED_CHARACTERS = 40
"""Unit: characters. The longest expression of backward that advice repeats: with the call that
follows it, half a line. A longer one is called ``grad``. Doubled: advice of two lines. Halved: most
expressions are called ``grad``."""
