"""Steps: where they begin and end, and how their difference quotients are read.

A rung is one step of the ladder of halving steps, see `gradtool.verify.oracle.step_ladder`.
Moves are measured in bounds on the noise of the output.
"""

# ---- points and directions ------------------------------------------------------------------

RANDOM_SMALLEST = 0.5
"""Unit: size of a random entry. No cotangent or direction has an entry near zero, which would
hide its row or column. Doubled: entries differ by 1.5 at most, and mistakes that need unequal
cotangents show less. Halved: some columns count six times less than others.
"""

RANDOM_LARGEST = 1.5
"""Unit: size of a random entry. With `RANDOM_SMALLEST` the mean size is one, so that a random
cotangent is as large as a usual one. Doubled: steps along random directions vary sixfold. Halved:
entries lie between 0.5 and 0.75, and a backward that ignores their size looks almost right.
"""

RANDOM_GRAIN = 256
"""Unit: multiples in one. Random entries are multiples of 1/256: with sizes up to 1.5 they have
nine bits, and float16 holds eleven exactly; a whole vector is kept as int16. Doubled: ten bits,
still exact. Halved: half as many distinct cotangents; nothing else.
"""

NEARBY_POINT_SHIFTS = (2.0**-5, 2.0**-8, 2.0**-11)
"""Unit: parts of the input's scale. Where the point of a case has no derivative the same formula
is judged this far away, the furthest first: at 3 percent kinks are left behind for certain, at
0.05 percent a function that is defined only close by still is. Doubled: points leave narrow
domains. Halved: noise near the singular point takes more of the difference quotients.
"""

SPOT_CHECK_DIFFERENCE = 1e-2
"""Unit: part of the larger derivative. A spot check takes one quotient with a step near the cube
root of eps, whose truncation error is about eps**(2/3) for double precision and 2e-5 for single;
1e-2 leaves room for derivatives that change fast. Doubled: mistakes of 2 percent are overlooked
at other points. Halved: the oracle is asked more often for nothing; no verdict changes.
"""

# ---- the cheap pass -------------------------------------------------------------------------

CHEAP_KINK_GAP = 1e-2
"""Unit: part of the slope. One-sided quotients of a smooth function differ by step * f'', about
1e-5 of the slope at the cheap step; a kink makes them differ by the jump of the slope. Doubled:
kinks of 2 percent pass the cheap pass unseen. Halved: more entries climb a ladder.
"""

CHEAP_NOISE_SHARE = 0.1
"""Unit: part of the largest meaningful error (`MEANINGFUL_ERROR`). The cheap error is only the
noise over the step, with truncation not counted; a tenth leaves the rest of the budget to that.
Doubled: noisier entries settle without a ladder. Halved: more entries climb one.
"""

WORST_WORKING_PRECISION = 1e-3
"""Unit: relative noise of the outputs. The cheap step grows with the cube root of the noise; at
1e-3, the precision of float16, it is 0.2 of the input's scale. Doubled: steps of a quarter of the
scale, which say little of the slope here. Halved: float16 gets steps too small for its noise.
"""

UNREFINED_ERROR_MARGIN = 10.0
"""Unit: times the worst relative error of the cheap quotients that were refined. Once one entry
is certainly wrong the remaining cheap values are kept, with this margin on their error since only
some were tried. Doubled: fewer entries are counted as wrong in the message of a failed check.
Halved: entries that are right may be counted as wrong there.
"""

# ---- the ladder of steps --------------------------------------------------------------------

LADDER_FIRST_STEP = 0.5
"""Unit: part of the input's scale. Steps halve from here; an input of size one is moved by at
most a half, so that it keeps its sign. Doubled: the first rung reaches zero, where logarithms and
divisions end. Halved: one rung fewer, and steps of low-precision functions show less clearly.
"""

LADDER_LEAST_RUNGS = 8
"""Unit: rungs. Extrapolation eats three, `EXTRAPOLATION_WITNESSES` two more, which leaves three
estimates to choose from. Doubled: every refined column costs 16 evaluations more. Halved: fewer
than the six rungs that a single one-sided estimate needs, so extrapolation itself fails.
"""

LADDER_MOST_RUNGS = 1200
"""Unit: rungs. 2**-1200 is 1e-361 of the scale, more than double precision has, so that an entry
far smaller than its neighbours is resolved at its own size. Doubled: nothing. Halved: an entry of
1e-200 next to 1 is called constant, or wrong.
"""

DWARFED = 1e-12
"""Unit: part of the scale of an entry's array. A smaller entry is first sampled on a ladder of its
own size, which is some forty rungs below the array's. Doubled or halved: nothing but arrays of such
numbers.
"""

LADDER_RUNGS_AT_A_TIME = 4
"""Unit: rungs. Rungs are evaluated together, in a batch where that works, and each round of them
is judged once. Doubled: up to seven rungs too many. Halved: batches half as large, more rounds.
"""

LADDER_CRUDE_ERROR = 1e-3
"""Unit: part of the largest quotient. An error above it says that nothing has settled, so smaller
steps are tried even where the noise seems to forbid it. Doubled: functions that oscillate faster
than the first rungs are given up sooner. Halved: noisy functions cost more rungs.
"""

SMALLEST_STEP_SPACINGS = 16
"""Unit: spacings of the input's numbers. A step of 16 spacings is right to 1/32, and the quotient
divides by the distance really gone. Doubled: one rung fewer. Halved: one more, whose noise is
twice as large, so that it is rarely the best.
"""

# ---- extrapolation --------------------------------------------------------------------------

EXTRAPOLATION_SAFETY = 2.0
"""Unit: times the change from rung to rung. The change bounds the error of the rung before, as
long as the error falls by a constant factor; 2 is for factors that are only roughly constant.
Doubled: errors double, sharp functions still pass. Halved: the estimate is the change itself, and
an accidentally small change is taken for convergence. Tried halved: no verdict in the zoo
changes.
"""

EXTRAPOLATION_LONGEST_TAIL = 32.0
"""Unit: times the last change. If changes fall by the ratio r, those still to come add up to
r/(1-r): 32 is r = 0.97, slower than the square root of a step converges (0.71). Doubled: the same
for all but the slowest. Halved: errors of sequences slower than r = 0.94 are too small.
"""

EXTRAPOLATION_WITNESSES = 2
"""Unit: rungs. An estimate counts with the two before it: one small change may be an accident,
two rarely are. Doubled or halved: the error estimate compares just two changes, so extrapolation
fails (tried halved).
"""

CENTRAL_NOISE_SPREAD = 1.7
"""Unit: noise of an output over the smallest step. A central quotient at the step s has noise
1/s, at 2s half of it. Eliminating h**2 gives (4 * 1 + 1/2) / 3 = 1.5, then h**4 gives (16 * 1.5 +
0.75) / 15 = 1.65, if all noise adds up. Doubled: errors of noisy functions are too large, some
become unverified. Halved: the error no longer bounds the noise.
"""

ONE_SIDED_NOISE_SPREAD = 18.3
"""Unit: noise of an output over the smallest step. A one-sided quotient has noise 2/s.
Eliminating h, h**2 and h**3 gives 5, 7.5 and 9.1 in the worst case, as for
`CENTRAL_NOISE_SPREAD`; the value is about twice that, since a kink seen in noise takes the
numeric value away. Doubled: small kinks are lost in noise. Halved: just the worst case, with no
room for noise that was underestimated. Tried halved: no verdict in the zoo changes.
"""

# ---- flat, constant, in steps ---------------------------------------------------------------

FLAT_MOVES = 8.0
"""Unit: bounds on the noise. The output is flat where no move exceeds this. A move is the
difference of two outputs, so 2 would do if the bound held everywhere; 8 allows noise that grows
away from the base. Doubled: slopes that are weak but real are called zero. Halved: noise is taken
for movement, and constants are followed to the last rung. Tried halved: no verdict in the zoo
changes.
"""

FLAT_FROM_RUNG = 4
"""Unit: rungs. A flat stretch must reach 1/32 of the scale: closer in than the noise allows,
every function is flat. Doubled: 1/512 of the scale will do, and weak slopes in noise are called
zero. Halved: a clipped function is flat only if its flat part reaches 1/8 of the scale. Tried
halved: no verdict in the zoo changes.
"""

FLAT_BREAK_MOVES = 100.0
"""Unit: bounds on the noise. A stretch is flat only if it ends in a jump of this size, not in
moves that emerge from the noise little by little, as those of a weak slope do. A slope doubles
its move at each rung: from 8 to 100 is more than three rungs. Doubled: smaller steps count as
slopes. Halved: a steep curve counts as a break.
"""

CONSTANT_RUNGS = 3
"""Unit: rungs. An output that is bit for bit the same at the three finest rungs has come to rest,
over a factor of four in the step. Doubled: a 64-fold range, and steps of low precision are found
later. Halved: one rung, which rounding alone makes the same now and then.
"""

UNMASKING_RUNGS = 6
"""Unit: rungs. The finest rungs, over a factor of 32 in the step, that show whether a function
follows its input steadily far below its measured noise. Doubled: fast oscillations, which look
like noise, are never recognized. Halved: three rungs agree by chance now and then.
"""

BELOW_NOISE_MOVES = 2.0**-10
"""Unit: bounds on the noise. Moves a thousand times smaller than the noise, and steady, prove
that the noise was none. True noise never shrinks with the step. Doubled or halved: one rung more
or less until an oscillation is recognized.
"""

UNMASKING_SLOPE_RATIO = 2.0
"""Unit: largest slope over smallest, of the `UNMASKING_RUNGS`. Noise over halving steps makes
slopes grow 32-fold, a smooth function keeps them. Doubled: still unlike noise. Halved: the slopes
would have to be equal to the last bit, and nothing is ever recognized.
"""

COARSE_STEP = 2.0**-16
"""Unit: part of the output. An output that moves in steps larger than this was rounded: float16
has steps of 2**-11, bfloat16 of 2**-8, float32 of 2**-24, which is measured as noise instead.
Doubled or halved: nothing, until a format's own step is reached.
"""

STEPPED_CLEAR_RUNGS = 4
"""Unit: rungs. Quotients average over the steps of an output from 16 step lengths on, where they
are right to 1/16. Doubled: 256 step lengths, where the function has often curved away. Halved:
four step lengths, and a quotient may be off by a quarter.
"""

STEPPED_AVERAGED_RUNGS = 3
"""Unit: rungs. Both sides must agree over a fourfold range of steps before a function is said to
follow its input in steps. Doubled: curved functions are never recognized. Halved: one rung, so
around a constant stretch chance can agree.
"""

STEPPED_SLOPE_RATIO = 2.0
"""Unit: largest averaged slope over smallest. Averages over few steps differ by a quarter,
curvature adds as much. Doubled: curved flat functions count as stepped and become unverified.
Halved: slopes must be equal, no function counts as stepped, and its quotients of zero are
believed (tried: right second derivatives of a saturated sigmoid and tanh fail in the zoo).
"""

STEPPED_SLOPE_SPREAD = 2.0
"""Unit: times the averaged slope. What the slope of a stepped function is meant to be lies
between zero and this, the room that `STEPPED_SLOPE_RATIO` leaves. Doubled: a gradient too large
by a factor of three is not blamed. Halved: right gradients of curved functions are.
"""

# ---- kinks and vertical tangents ------------------------------------------------------------

KINK_SLOPE_DIFFERENCE = 1e-3
"""Unit: part of the slope. Slopes from both sides closer than this are called equal, whatever
their errors claim: the tolerance of single precision is as wide. Doubled: kinks of 0.2 percent
are averaged. Halved: error estimates a little too small make kinks of smooth functions.
"""

KINK_ERROR_MARGIN = 2.0
"""Unit: times the sum of both errors. Two estimates that each hold differ by the sum at most; 2
is for errors that do not quite hold, since a false kink takes the numeric value away. Doubled:
kinks in noise are missed. Halved: no room for an error that is slightly too small.
"""

VERTICAL_GROWTH = 1.25
"""Unit: factor at each halving of the step. The quotients of |x|**p at zero grow by 2**(1-p): the
square root by 1.41, a jump by 2, |x|**(2/3) by 1.26. Doubled: not even a jump grows so fast, and
no vertical tangent is found. Halved: constant quotients count as growing.
"""

VERTICAL_RUNGS = 8
"""Unit: rungs. Growth must persist over the last eight, which is almost fivefold at least: a
smooth function with a pole nearby grows too, but not down to the last step. Doubled: the ladder
must have 16 rungs at that growth. Halved: a pole at 16 times the smallest step is taken for one
here.
"""

VERTICAL_MOVES = 16.0
"""Unit: bounds on the noise. Noise over halving steps doubles its quotient each time, just as a
jump does, so growth counts only where moves are far above it; 16 is twice `FLAT_MOVES`. Doubled:
smaller jumps are undecided. Halved: noise next to a flat stretch can look like a jump.
"""

# ---- the curve that a report shows ----------------------------------------------------------

CURVE_MOST_STEPS = 16
"""Unit: steps. With `CURVE_STEP_RATIO` they span nine decades: the fall towards the derivative,
whose best step is near 1e-5, and as much of the rounding after it. Doubled: eight more points of
nothing but rounding. Halved: the curve ends at 3e-5 of the scale, before rounding shows.
"""

CURVE_STEP_RATIO = 0.25
"""Unit: factor from step to step. Every second rung of the ladder: enough points for a line in a
figure at half the evaluations. Doubled: half as many decades. Halved: half as many points in
each.
"""
