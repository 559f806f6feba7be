"""One report of ``profile-transfer``, many renderers: each a file, as for ``check``."""
