"""Processes in which the user's code runs, so that it can take down nothing but itself.

The ``pool``, in the process that reports, asks the ``fork_server``, a process that never runs
the user's code, for workers. Each worker is a fork of it, so that NumPy and the engine are loaded
once. A worker and the pool exchange ``messages`` over a ``channel``. A worker that outlives its
``deadline`` is killed; ``worker_death`` names the cause of any worker's end.
"""
