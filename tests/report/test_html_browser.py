"""The HTML page in a real browser: it shows everything, fetches nothing, and follows the colours.

Needs Chromium (Debian: ``apt-get install chromium``); without it these are skipped, and say so.
"""

import json
import shutil
import subprocess
import zlib
from pathlib import Path

import pytest

from gradtool.report.findings import problems
from gradtool.report.html import render
from gradtool.report.words import one_line
from gradtool.results.report import Report
from tests.report.test_html import Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")

_LIGHT, _DARK = 1, 0
_OFFLINE = ("--disable-background-networking", "--disable-component-update", "--no-first-run")


@pytest.fixture
def page(report: Report, tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text(render(report), encoding="utf-8")
    return path


def chromium(page: Path, *options: str, width: int = 1280) -> str:
    assert CHROMIUM is not None
    command = [
        CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *_OFFLINE,
        f"--user-data-dir={page.parent / 'profile'}", f"--window-size={width},2400", *options,
        page.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


def test_the_browser_shows_every_finding_and_fetches_nothing(page: Path, report: Report) -> None:
    log = page.parent / "net.json"
    dom = Page(chromium(page, "--dump-dom", f"--log-net-log={log}"))
    for finding in problems(report):
        assert one_line(finding.message).replace("`", "") in dom.text
    assert fetched(log) == []


def test_a_fetch_would_be_seen(tmp_path: Path) -> None:
    page, log = tmp_path / "page.html", tmp_path / "net.json"
    page.write_text('<!DOCTYPE html><img src="http://127.0.0.1:9/x.png">')
    chromium(page, "--dump-dom", f"--log-net-log={log}")
    assert fetched(log) == ["http://127.0.0.1:9/x.png"]


def fetched(log: Path) -> list[str]:
    """What the page asked for; what the browser asks for by itself has no origin."""
    events = [event.get("params", {}) for event in json.loads(log.read_text())["events"]]
    asked = [event for event in events if "url" in event and "initiator" in event]
    return [event["url"] for event in asked if event["initiator"] != "not an origin"]


@pytest.mark.parametrize("width", [1280, 390])
def test_it_follows_light_and_dark(page: Path, width: int) -> None:
    assert min(corner(screenshot(page, _LIGHT, width))) > 240
    assert max(corner(screenshot(page, _DARK, width))) < 40


def screenshot(page: Path, scheme: int, width: int) -> bytes:
    path = page.parent / "shot.png"
    chromium(
        page,
        f"--blink-settings=preferredColorScheme={scheme}",
        f"--screenshot={path}",
        width=width,
    )
    return path.read_bytes()


def corner(png: bytes) -> bytes:
    """The colour of the first pixel of a PNG, which no filter of its row can change."""
    data, at = b"", 8
    while at < len(png):
        length = int.from_bytes(png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            data += png[at + 8 : at + 8 + length]
        at += length + 12
    return zlib.decompress(data)[1:4]
