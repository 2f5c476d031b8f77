"""A real browser: Debian's Chromium or Playwright's own; without one the tests say that they skipped, and why."""

import os
import shutil

import pytest

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run",
)  # fmt: skip
NEEDED = "SEPARATRIX_NEEDS_BROWSER"


def _without(why):
    """Skip; or fail where a browser must be there."""
    if os.environ.get(NEEDED) == "1":
        pytest.fail(f"{NEEDED}=1, and {why}")
    pytest.skip(why)


@pytest.fixture(scope="session")
def chromium():
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        _without("Playwright is not installed: pip install playwright.")
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        except Error as error:
            first = str(error).strip().splitlines()[0]
            _without(f"no Chromium starts ({first}): apt-get install chromium, or playwright install chromium.")
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium):
    """Open a file in a fresh window; what the console says and what is asked of the network is kept."""
    contexts = []

    def opened(path, *, width=1280, scheme="light", scripts=True):
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=scripts,
            accept_downloads=True,
        )  # fmt: skip
        contexts.append(context)
        page = context.new_page()
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
