"""One file for each format of ``gradtool check --report FORMAT=PATH``."""
