"""``python -m gradtool`` is the ``gradtool`` command."""

from gradtool.cli.main import run

if __name__ == "__main__":
    run()
