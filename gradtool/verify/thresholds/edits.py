"""Limits of the search for an edit, of forward or of backward, that explains a wrong gradient.

Each edit costs a run of forward, of backward or of both. One that is not tried names no mistake.
"""

# ---- edits of forward -------------------------------------------------------------------------

EDITS_DEEPEST_PART = 4
"""Unit: levels below an expression of forward, at which a part may stand for all of it. Doubled:
long expressions use up `ALTERATIONS_MOST` with parts of themselves. Halved: only operands, and
those of operands.
"""

EDITS_MOST_SWAPPED = 6
"""Unit: numbers, variables or factors of an expression, of which any two are swapped. Six make 15
pairs. Doubled: 66 pairs. Halved: an expression with four variables is not tried in full.
"""

# ---- repairs of backward ----------------------------------------------------------------------

REPAIRS_DEEPEST_PART = 3
"""Unit: levels below an expression of backward, at which a part may stand for all of it. Doubled:
long expressions use up `REPAIRS_MOST` with parts of themselves. Halved: only operands, or those of
operands.
"""

GRAFTS_MOST = 400
"""Unit: places of backward that take a value of forward, of tensors and of numbers each, the least
changes first, and factors of forward. Each costs a backward. Doubled: other repairs are reached
later. Halved: in a long backward, more of the values that are meant are not tried.
"""

GRAFTS_LEAST_CHANGE = 1e-15
"""Unit: part of the largest entries of two values. The same formula, computed twice, differs by a
few roundings in double precision. Doubled or halved: values that are the same but for roundings are
tried as well, or no longer; they change no gradient.
"""

GRAFTS_MOST_USES = 40
"""Unit: expressions of backward that read alike and take a value of forward together. Doubled or
halved: more or fewer expressions that are everywhere, such as a 1, are replaced at once.
"""

MULTIPLES_MOST = 7
"""Unit: multiples of a constant of forward that are tried in the place of one of backward, this one
left out. Doubled: multiples that nobody writes. Halved: only those up to three times the constant.
"""

MULTIPLES_DIFFERENCE = 0.01
"""Unit: part of a constant of backward, by which a multiple of one of forward may differ from it: a
constant that was rounded or mistyped in its last digit. Doubled: more accidents. Halved: 0.133 is
not recognized as 0.134.
"""

KEPT_MOST_OTHERS = 100
"""Unit: variables that forward keeps in the place of others. Each costs a forward and a backward.
Doubled: seconds for a forward with many variables. Halved: a forward that keeps six of its ten
variables is not tried in full.
"""

MOVED_FACTORS_MOST = 300
"""Unit: pairs of a product and an expression that takes its factor. Doubled: later repairs are
reached later. Halved: fewer pairs of a long backward are tried.
"""

# ---- what a run of backward notes and compiles ------------------------------------------------

NOTED_MOST_ENTRIES = 100_000
"""Unit: entries of a tensor of which a copy is kept for comparison: those of small cases, which
explain as much. Doubled: a megabyte more for each expression. Halved: images of 224 x 224 are not
compared, not even in one channel.
"""

COMPILED_TOGETHER = 64
"""Unit: repairs that one code holds, of which each run chooses one. Doubled: more is compiled that
is never run, where an early repair is right. Halved: twice the time of compiling where none is.
"""

NUDGE = 2.0**-10
"""Unit: part by which a number of backward is made larger, to see how the gradient moves. Doubled:
a gradient that is not linear in it is farther from the line. Halved: roundings of the difference
count twice as much.
"""

FITTED_DIGITS = 7
"""Unit: digits of a fitted number in a hint. Doubled: its roundings are shown. Halved: it does not
differ from the mistyped one.
"""
