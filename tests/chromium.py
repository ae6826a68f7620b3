"""A real headless Chromium for tests: the machine's own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")


@contextmanager
def opened_pages(*, width: int, scheme: Literal["light", "dark"]) -> Iterator[Page]:
    """A page of so many pixels' width for a reader who prefers light or dark."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(_ARGUMENTS))
        try:
            yield browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
        finally:
            browser.close()
