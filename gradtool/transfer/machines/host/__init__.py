"""Host memory in place of a device: copies are memcpy, streams are threads.

It measures real costs (first touches, the rate of memcpy, locking of pages), but those of no GPU,
so everything measured on it is marked as simulated.
"""
