"""One word for everything that CI runs: ``nox``. A piece of it: ``nox -s lint``.

``.ci/run`` is the one list of what must hold. The session ``ci`` runs it; the others run a piece
while working, in the environment of nox, and CI does not depend on them.
"""

from __future__ import annotations

import nox

nox.needs_version = ">=2024.4.15"
nox.options.sessions = ["ci"]
nox.options.reuse_existing_virtualenvs = True

TORCH = "torch==2.13.0"
"""The CPU-only build is enough; PIP_EXTRA_INDEX_URL can name an index that has it."""


@nox.session(venv_backend="none")
def ci(session: nox.Session) -> None:
    """All that must hold before a change merges."""
    session.run(".ci/run", external=True)


@nox.session
def lint(session: nox.Session) -> None:
    """Mistakes that ruff knows."""
    develop(session)
    session.run("ruff", "check", *session.posargs)


@nox.session(name="format")
def format_(session: nox.Session) -> None:
    """Write all files as ruff formats them."""
    develop(session)
    session.run("ruff", "format", *session.posargs)


@nox.session
def types(session: nox.Session) -> None:
    """Types, with mypy."""
    develop(session)
    session.run("mypy", *session.posargs)


@nox.session
def layering(session: nox.Session) -> None:
    """Which package may import which."""
    develop(session)
    session.run("lint-imports", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """The fast tests; options of pytest after ``--``, such as a path, -k or --cov."""
    develop(session)
    session.run("pytest", "-n", "auto", *session.posargs)


@nox.session
def slow(session: nox.Session) -> None:
    """Slow tests, and those that compare with PyTorch."""
    develop(session, TORCH)
    session.run("pytest", "-n", "auto", "-m", "slow or torch", *session.posargs)


@nox.session
def gate(session: nox.Session) -> None:
    """The gate on the samples."""
    develop(session)
    session.run("gradtool", "check", "samples", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """The site of the docs, in build/site."""
    develop(session)
    session.run("mkdocs", "build", "--strict", "--quiet", "--config-file", "docs/site/mkdocs.yml")


@nox.session
def mutation(session: nox.Session) -> None:
    """Thousands of mistakes made in right Functions, each of which must be found."""
    develop(session)
    session.run("python", "-m", "tests.mutation", *session.posargs)


@nox.session
def benchmarks(session: nox.Session) -> None:
    """How long things take here beside PyTorch and others; nothing is decided by it."""
    develop(session, TORCH, "autograd", "jax")
    session.run("python", "-m", "tests.benchmarks", *session.posargs)


def develop(session: nox.Session, *more: str) -> None:
    """Install what development needs."""
    session.install("-e", ".[dev]", *more)
