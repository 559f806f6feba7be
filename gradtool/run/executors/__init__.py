"""Executors, which do the work of a run: this process, worker processes, or a Dask cluster."""
