"""``python -m gradtool`` is the ``gradtool`` command."""

from gradtool.cli.app import main

if __name__ == "__main__":
    raise SystemExit(main())
