"""``python -m gradtool`` is the ``gradtool`` command."""

from gradtool.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
