"""Chromium without a window, for tests that use pages as people do."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

__all__ = ["chromium", "errors", "overflow", "pale", "press_tab_through", "resize"]

_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)
_SECONDS = 60


@contextmanager
def chromium(profile: Path) -> Iterator[Chrome]:
    """Yield a browser with a fresh profile; the test is skipped where there is none."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("no chromium and chromedriver (Debian: apt-get install chromium chromium-driver)")
    webdriver = pytest.importorskip("selenium.webdriver")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for option in (*_OPTIONS, f"--user-data-dir={profile}"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the driver's own connections
        found = webdriver.Chrome(options=options, service=Service(driver))
        try:
            found.set_page_load_timeout(_SECONDS)
            yield found
        finally:
            found.quit()


def resize(browser: Chrome, width: int, height: int = 900, *, dark: bool = False, scale: float = 1.0) -> None:
    """Show pages in a window of this size, as one who prefers light or dark sees them."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})


def errors(browser: Chrome) -> list[str]:
    """Return what the console has said since the last call."""
    entries: list[dict[str, Any]] = browser.get_log("browser")
    return [entry["message"] for entry in entries]


def overflow(browser: Chrome) -> int:
    """Return by how many pixels the page is wider than the window."""
    wide: int = browser.execute_script(
        "return document.documentElement.scrollWidth - document.documentElement.clientWidth;"
    )
    return wide


_CONTRASTS = """
const parse = (color) => color.match(/[\\d.]+/g).map(Number);
const shine = (c) => c.slice(0, 3).map((x) => x / 255).map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4))
  .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
const ground = (node) => {
  for (; node; node = node.parentElement) {
    const color = parse(getComputedStyle(node).backgroundColor);
    if (color.length < 4 || color[3] > 0) return color;
  }
  return [255, 255, 255];
};
const found = [];
for (const node of document.querySelectorAll("main *")) {
  if (node.closest("svg") || !node.checkVisibility()) continue;
  if (![...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim())) continue;
  const [a, b] = [shine(parse(getComputedStyle(node).color)), shine(ground(node))].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < 4.5) found.push(`${node.tagName} ${node.className} ${node.textContent.slice(0, 30)}: ${ratio.toFixed(2)}`);
}
return found;
"""


def pale(browser: Chrome) -> list[str]:
    """Return the texts with a contrast below 4.5, which WCAG asks for."""
    found: list[str] = browser.execute_script(_CONTRASTS)
    return found


def press_tab_through(browser: Chrome, limit: int = 400) -> int:
    """Return how many elements the tab key reaches; fails if that is not all that can be used."""
    from selenium.webdriver import ActionChains, Keys

    wanted: int = browser.execute_script(
        'return [...document.querySelectorAll(\'a[href]:not([tabindex="-1"]), button, input, summary, [tabindex="0"]\')]'
        ".filter((node) => node.checkVisibility()).length;"
    )
    assert wanted <= limit, f"{wanted} elements: too many to press through"
    browser.execute_script("document.activeElement?.blur(); window.reached = new Set(); scrollTo(0, 0);")
    for _ in range(wanted + 2):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        browser.execute_script("if (document.activeElement !== document.body) reached.add(document.activeElement);")
    reached: int = browser.execute_script("return reached.size;")
    assert reached == wanted
    return reached
