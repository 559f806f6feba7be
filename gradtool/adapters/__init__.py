"""Access to Functions of the bundled engine and of PyTorch, behind one protocol.

`common` implements `gradtool.verify.protocol.differentiable` against the API that both libraries
share, and knows neither. `bundled` and `torch` add what that API leaves open; `library` chooses
between them.
"""
