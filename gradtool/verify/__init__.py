"""How a Function is checked: the derivative oracle, the comparison, the rules.

The way in is `gradtool.verify.examine.examine`; what it sees of an engine is
`gradtool.verify.protocol.differentiable.Differentiable`, and nothing else.
"""
