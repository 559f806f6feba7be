"""The checker, put to work on the engine's own operations.

`pool` says which cases are asked, `recording` which primitives a case runs, `maps` what of a
case is differentiated (its outputs, its gradients, its tangents), and `asking` asks.
"""
