"""Reports of ``gradtool profile``: one file each."""
