"""Host memory in place of a device: copies are memcpy, streams are threads.

It measures real things (first touches, what memcpy reaches, what locking pages costs) and says
nothing of a GPU, so everything measured on it is marked as simulated.
"""
