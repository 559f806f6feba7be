"""One module for each engine that the checker can look into.

An adapter implements `gradtool.verify.protocol.Differentiable` for its engine's Functions.
"""
