"""A page for tests: its answers without a socket, or the command with a browser before it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from lasthop.page.app import Desk, make
from lasthop.page.guard import own_names
from lasthop.page.library import Library

ENDED = ("done", "stopped", "failed")


class Page:
    """The answers of a page that was opened for `roots`."""

    def __init__(self, *roots: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Starlette would rather have a successor of httpx
            from starlette.testclient import TestClient
        self.desk = Desk(Library(roots))
        self.client = TestClient(make(self.desk, own_names("127.0.0.1", 80)), base_url="http://127.0.0.1")

    def get(self, address: str, **options: Any) -> Any:
        """What a GET gives, which must go well."""
        answer = self.client.get(address, **options)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, address: str, body: Any) -> Any:
        """What a POST of JSON gives, which must go well."""
        answer = self.client.post(address, json=body)
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    def refused(self, method: str, address: str, status: int, **options: Any) -> str:
        """The sentence with which a request is refused."""
        answer = self.client.request(method, address, **options)
        assert answer.status_code == status, answer.text
        return answer.json()["error"]

    def ended(self, job: dict[str, Any], within_s: float = 60.0) -> dict[str, Any]:
        """What is known of a job once it has ended."""
        until = time.monotonic() + within_s
        while time.monotonic() < until:
            told = self.get(f"/api/jobs/{job['id']}")
            if told["state"] in ENDED:
                return told
            time.sleep(0.02)
        raise AssertionError(f"it has not ended: {told}")

    def events(self, job: dict[str, Any]) -> list[dict[str, Any]]:
        """All that a job tells until it ends."""
        with self.client.stream("GET", f"/api/jobs/{job['id']}/events") as answer:
            return [
                json.loads(line.removeprefix("data: ")) for line in answer.iter_lines() if line.startswith("data: ")
            ]


@contextmanager
def served(*roots: Path) -> Iterator[str]:
    """The address of `lasthop serve ROOTS`, which ends by Ctrl-C without a traceback."""
    line = [sys.executable, "-m", "lasthop", "serve", *map(str, roots), "--port", "0"]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip().rstrip("/")
    finally:
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert process.returncode == 130, said
    assert "Traceback" not in said, said


def chromium() -> str:
    """The browser; without one, or what drives it, the test is skipped and says so."""
    pytest.importorskip("playwright.sync_api", reason="playwright, which drives the browser, is not installed")
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no chromium is installed")
    return os.fspath(found)


class Browser:
    """Pages of one browser; what goes wrong in any of them is kept."""

    def __init__(self, browser: Any, address: str) -> None:
        self._browser = browser
        self.address = address
        self.complaints: list[str] = []

    def open(self, path: str, *, width: int = 1280, height: int = 900, dark: bool = False) -> Any:
        """A page of this path, drawn."""
        scheme = "dark" if dark else "light"
        page = self._browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.on("console", lambda said: said.type in ("error", "warning") and self.complaints.append(said.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self._check(request.url))
        return self.go(page, path)

    def from_disk(self, file: Path) -> tuple[Any, list[str]]:
        """A file in the browser, and what goes wrong in it: it may ask nobody."""
        page, complaints = self._browser.new_page(viewport={"width": 1280, "height": 900}), []
        page.on("console", lambda said: said.type in ("error", "warning") and complaints.append(said.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        own = ("file:", "data:", "blob:")
        page.on(
            "request", lambda asked: asked.url.startswith(own) or complaints.append(f"asked elsewhere: {asked.url}")
        )
        page.goto(file.as_uri())
        return page, complaints

    def go(self, page: Any, path: str) -> Any:
        """Leads a page elsewhere."""
        page.goto(self.address + path)
        page.wait_for_selector("body[data-ready]")
        return page

    def _check(self, url: str) -> None:
        if not url.startswith((f"{self.address}/", "data:", f"blob:{self.address}/")):
            self.complaints.append(f"asked elsewhere: {url}")


@contextmanager
def browsing(*roots: Path) -> Iterator[Browser]:
    """A browser before a page; at the end nothing may have gone wrong in it."""
    program = chromium()
    from playwright.sync_api import sync_playwright

    with served(*roots) as address, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        bench = Browser(browser, address)
        yield bench
        browser.close()
    assert bench.complaints == []
