"""Processes in which the user's code runs, so that it can take down nothing but itself.

``pool`` in the process that reports asks ``nursery``, a process that never runs the user's
code, for workers. Each worker is a fork of the nursery, so that NumPy and the engine are
loaded once. A worker and the pool speak in ``messages`` over a ``channel``; when a worker
dies, ``deaths`` says of what.
"""
