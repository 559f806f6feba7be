"""The numeric constants of the checker, grouped by the question that they answer.

`steps` says how far to step and what to make of the quotients, `noise` how much of an output is
rounding, `comparison` how closely two values must agree, `diagnosis` when a mistake has a name,
`edits` how many edits of forward and backward are tried to explain it, `rules` what single rules
allow, and `effort` how much is evaluated, and for how long. Each constant has its unit, where its
value comes from, and what breaks if it is doubled or halved: derived, or tried on the Functions of
tests/zoo where it says so. A rounding is one unit of the precision (eps) of the dtype in question,
relative to the value.
"""
