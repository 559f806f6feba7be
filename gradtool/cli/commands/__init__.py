"""One file for each command of ``gradtool``."""
