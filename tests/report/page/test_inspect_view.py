"""Items lead to their samples in Inspect's own viewer, which runs here as users start it."""

import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from inspect_ai._util.constants import DEFAULT_VIEW_PORT
from playwright.sync_api import Browser, expect

from tests.harness import environment, forks
from tests.ranking_logs.builders import bracket
from tests.report.page.browser import opened
from tests.report.page.logs import Folder, judged, page_in
from tests.report.page.sample_report import written

IDS = ("sums:1", "a/b:c#2 50% é?")


def listens(port: int) -> bool:
    with socket.socket() as there:
        return there.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def viewer(folder: Path) -> Iterator[str]:
    """The address of `inspect view` on a folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ("inspect", "view", "--log-dir", str(folder), "--port", str(port))
    with Path(os.devnull).open("w") as nothing:
        files = {"stdout": nothing.fileno(), "stderr": nothing.fileno()}
        running = forks().start(*command, cwd=folder, env=environment(), **files)
    address, patience = f"http://127.0.0.1:{port}", time.monotonic() + 120
    try:
        while not listens(port):
            assert running.poll() is None
            assert time.monotonic() < patience
            time.sleep(0.1)
        yield address
    finally:
        running.kill()


@pytest.mark.slow
def test_links_open_the_very_sample(browser: Browser, tmp_path: Path) -> None:
    samples = [
        judged(bracket(f"q{n}", "a", "b", "c"), sample_id=name, epoch=epoch)
        for n, name in enumerate(IDS)
        for epoch in (1, 2)
    ]
    logs = tmp_path / "a folder"
    logs.mkdir()
    log = Folder(logs).add(samples)
    path = written(tmp_path, page_in(logs))
    assert str(tmp_path) not in path.read_text(encoding="utf-8")
    links = []
    for number in range(len(IDS)):
        with opened(browser, path, f"#item-gsm8k-q{number}") as page:
            expect(page.get_by_role("tab")).to_have_count(2)
            for tab in page.get_by_role("tab").all():
                tab.click()
                link = page.get_by_role("link", name="Open in Inspect View")
                links.append(link.get_attribute("href") or "")
                expect(link.locator("..")).to_contain_text(
                    f"(where it runs on the folder of {log.name})"
                )
    usual = f"http://127.0.0.1:{DEFAULT_VIEW_PORT}/"
    assert all(link.startswith(f"{usual}#/logs/{log.name}/") for link in links)
    shown = browser.new_page()
    with viewer(logs) as address:
        asked = [(name, epoch) for name in IDS for epoch in (1, 2)]
        # Each opens all of the viewer: two of the four will do.
        for to, (name, epoch) in list(zip(links, asked, strict=True))[1:3]:
            shown.goto("about:blank")
            shown.goto(f"{address}/{to.removeprefix(usual)}")
            said = re.compile(rf"Sample {re.escape(name)} \(Epoch {epoch}\)")
            expect(shown.locator("body")).to_contain_text(said, timeout=120_000)
            # The sample itself, which View shows only where it has found it.
            expect(shown.locator("body")).to_contain_text("question", timeout=120_000)
    shown.close()
