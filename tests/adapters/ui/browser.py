"""A real browser for tests: Chromium of the system, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def started_browser() -> Iterator[Browser]:
    """Chromium; the test is skipped where there is none."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip("chromium is not installed: make browser")
    # Chromium's own sandbox does not start as root, which is what CI is.
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=options)
        try:
            yield browser
        finally:
            browser.close()


class Tab:
    """A tab that has entered a page, and what it must not have done."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.origin = "://".join(urlsplit(address)[:2])
        self.problems: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("dialog", self._dialog)
        page.on("request", self._request)
        page.goto(address)
        page.wait_for_url("**/search")

    def open(self, path: str) -> None:
        """Load a page of the server."""
        self.page.goto(f"{self.origin}/ui/{path}")

    def _dialog(self, dialog: Dialog) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _console(self, message: ConsoleMessage) -> None:
        # A refused request is told by the browser itself, also where the page draws the refusal.
        if message.type == "error" and "status of 4" not in message.text:
            self.problems.append(f"console: {message.text}")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.origin, "data:")):
            self.problems.append(f"request: {request.url}")
