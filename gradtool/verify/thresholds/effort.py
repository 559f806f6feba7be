"""Budgets: how much is evaluated, how much of it at a time, and for how long."""

# ---- rows and columns -----------------------------------------------------------------------

MOST_ROWS = 2000
"""Unit: coordinates of the outputs. So many are compared one by one, at a run of backward each;
beyond it a few random functionals stand for them. Doubled: checks of large outputs take twice as
long. Halved: outputs of 32 x 32 are projected, and their wrong entries must be searched for.
"""

MOST_COLUMNS = 2000
"""Unit: coordinates of an input. So many have a difference quotient each, two evaluations; beyond
it a few random directions stand for them. Doubled or halved: as for `MOST_ROWS`.
"""

MOST_ROWS_BY_DIRECTIONS = 32
"""Unit: rows, where an input has more than `MOST_COLUMNS`. Each is a run of backward through a
large input. Doubled: large checks take twice as long. Halved: small outputs of large inputs are
projected.
"""

PROJECTIONS = 4
"""Unit: random functionals, and directions. One wrong entry shows in each of them, with a size
between a half and three halves; four guard against cancellation of several. Doubled: twice the
cost of large checks. Halved: a mistake whose parts cancel along two directions is missed.
"""

QUICK_PROJECTIONS = 2
"""Unit: random functionals, where the witness has the same rows to rounding. One misses a mistake
only if its parts cancel to rounding, which random signs and sizes do not do; the second is for
parts that are equal by symmetry. Doubled: two more runs of backward for each Function. Halved:
nothing changed in the zoo.
"""

JVP_TANGENTS = 3
"""Unit: random tangents pushed through jvp, of all inputs at once. Doubled: twice the cost of
GT301. Halved: one tangent, along which parts of a mistake may cancel.
"""

FIRST_REFINED_COLUMNS = 4
"""Unit: columns refined before anything is decided; the number then doubles. A wrong gradient
shows in the worst column, and four are one batch. Doubled: a wrong gradient costs twice as much
to find. Halved: the same verdicts, with one more round where all columns need refining.
"""

REMEMBERED_ENTRIES = 4096
"""Unit: entries of a Jacobian, up to which all difference quotients are kept for another look: a
few dozen numbers for each entry, a megabyte in all. Doubled: twice the memory. Halved: the entries
of larger Jacobians that look wrong at first are evaluated twice.
"""

# ---- how much at a time ---------------------------------------------------------------------

BATCH_BYTES = 2**21
"""Unit: bytes of all arrays that a batch is made from. Two megabytes are what the second-level
cache of a core holds. Doubled: batches spill to the next level. Halved: more calls.
"""

BATCH_FEWEST = 12
"""Unit: points, or rows. A batch must be stacked, and one of its points is evaluated again alone.
Doubled: small functions are checked one point at a time. Halved: batches that cost more than they
save.
"""

PART_COORDINATES = 2**16
"""Unit: coordinates. Very long vectors are worked on in parts of half a megabyte. Doubled: one
megabyte, no longer in cache with its results. Halved: more passes of Python's loop.
"""

COMPARED_ENTRIES_AT_ONCE = 2**15
"""Unit: entries. gradcheck's comparison works on a quarter of a megabyte, with temporaries four
times that. Doubled or halved: as for `PART_COORDINATES`.
"""

# ---- how long -------------------------------------------------------------------------------

FIRST_EVALUATION_SECONDS = 1.0
"""Unit: seconds of processor time that an evaluation may take before any was timed. Far above what
a case is meant to take, so that slow starts are not cut. Doubled: functions that never end cost
twice as much. Halved: first evaluations on a slow machine may be cut and count as outside the
domain.
"""

LATER_EVALUATION_SECONDS = 0.1
"""Unit: seconds of processor time, once an evaluation was timed or cut, and until an interrupt is
repeated. Where it was timed, `EVALUATION_TIMES` of that may be more; a function that does not end
at one point rarely ends at others. Doubled: such a function takes twice as long. Halved: slow but
ending evaluations are cut as well.
"""

EVALUATION_TIMES = 50.0
"""Unit: times the evaluation at the case's own point. Iterations take longer elsewhere, rarely
ten times. Doubled: slow functions that never end cost twice as much. Halved: iterations near a
singular point are cut and count as outside the domain.
"""

LONGEST_TIMER_SECONDS = 365 * 24 * 3600.0
"""Unit: seconds. A year, in place of no limit: setitimer refuses numbers beyond 2**31 or so.
Doubled: still accepted. Halved: nothing runs for half a year either.
"""
