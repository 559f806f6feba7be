"""A report as one HTML page that needs nothing else: no network, no script, no other file.

It can be kept as an artifact of a CI run and opened years later. Filters and folding are plain
CSS and HTML, colours follow the reader's light or dark setting.
"""

from gradtool.report.html.page import render

__all__ = ["render"]
