"""Pages as people use them, in Chromium: no errors, the keyboard reaches everything, narrow and dark windows can be read."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cli_fakes
import pytest
from browser import chromium, errors, overflow, pale, press_tab_through, resize

from lakatos.checker import main as check
from lakatos.cli import main
from lakatos.graphs.layered import layered_network
from lakatos.html_page import page
from lakatos.markup import element, heading, table
from lakatos.network_json import network_to_json
from lakatos.report import OUTCOMES

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

BOTTLENECK = str(Path(__file__).parent.parent / "examples" / "bottleneck.json")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with chromium(tmp_path_factory.mktemp("profile")) as found:
        yield found


def show(browser: Chrome, path: Path, width: int = 1100, *, dark: bool = False) -> None:
    resize(browser, width, dark=dark)
    browser.get(path.as_uri())


def texts(browser: Chrome, selector: str) -> list[str]:
    from selenium.webdriver.common.by import By

    return [node.text for node in browser.find_elements(By.CSS_SELECTOR, selector)]


def click(browser: Chrome, selector: str, words: str) -> None:
    """Click the first element whose text begins with these words."""
    from selenium.webdriver.common.by import By

    next(node for node in browser.find_elements(By.CSS_SELECTOR, selector) if node.text.startswith(words)).click()


def require_readable(browser: Chrome, path: Path) -> None:
    for width, dark in ((1100, False), (1100, True), (360, False), (360, True)):
        show(browser, path, width, dark=dark)
        assert overflow(browser) == 0, (width, dark)
        assert pale(browser) == [], (width, dark)
        assert errors(browser) == []


@pytest.fixture(scope="module")
def connectivity_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a net with ten locked weights of different bounds."""
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("connectivity")
    network = folder / "net.json"
    network.write_text(network_to_json(layered_network([3, 12, 1], [[-(k + 1) for k in range(10)] + [1, 2]])))
    path = folder / "net.html"
    assert main(["connectivity", str(network), "--html", str(path)]) == 1
    return path


def test_connectivity_page_says_what_was_decided_and_what_helps(browser: Chrome, connectivity_page: Path) -> None:
    show(browser, connectivity_page)
    assert texts(browser, ".verdict") == ["Disconnected"]
    (formulas,) = [browser.execute_script("return document.querySelectorAll('math msubsup').length")]
    assert formulas >= 4
    remedies = [line for line in texts(browser, "li") if "Tried here" in line]
    assert len(remedies) == 2
    assert all(line.endswith("no sign is locked.") for line in remedies)
    drawn = browser.execute_script("return document.querySelector('.paper svg').getBoundingClientRect().height")
    assert drawn > 200
    assert errors(browser) == []


def test_connectivity_page_is_ordered_and_filtered(browser: Chrome, connectivity_page: Path) -> None:
    from selenium.webdriver.common.by import By

    show(browser, connectivity_page)
    bounds = "table.sortable tbody tr td:nth-child(3)"
    assert texts(browser, bounds) == [f"≥ {k}" for k in range(1, 11)]
    click(browser, "th button", "w²")
    click(browser, "th button", "w²")
    assert texts(browser, bounds) == [f"≥ {k}" for k in range(10, 0, -1)]
    field = browser.find_element(By.CSS_SELECTOR, ".controls input")
    field.send_keys("h1.7")
    assert [text for text in texts(browser, bounds) if text] == ["≥ 8"]
    assert texts(browser, ".controls output") == ["1 of 10 rows"]
    field.clear()
    field.send_keys("h")
    assert len([text for text in texts(browser, bounds) if text]) == 10
    assert errors(browser) == []


def test_certificate_of_the_page_checks(browser: Chrome, connectivity_page: Path, tmp_path: Path) -> None:
    show(browser, connectivity_page)
    link = "document.querySelector('a[download]')"
    assert browser.execute_script(f"return {link}.download") == "certificate.json"
    data = browser.execute_script(f"return {link}.href").partition("base64,")[2]
    saved = tmp_path / "certificate.json"
    saved.write_bytes(base64.b64decode(data))
    assert check([str(saved)]) == 0
    assert json.loads(saved.read_text("utf-8"))["claims"]["log2_components"] == "10"


def test_connectivity_page_is_readable(browser: Chrome, connectivity_page: Path) -> None:
    require_readable(browser, connectivity_page)
    assert press_tab_through(browser) > 5


def test_without_matplotlib_the_page_says_what_draws_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    path = tmp_path / "net.html"
    assert main(["connectivity", BOTTLENECK, "--html", str(path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["connected"] is False
    text = path.read_text("utf-8")
    assert "<svg" not in text
    assert "pip install &#x27;lakatos[plot]&#x27;" in text
    assert "Locked weights" in text


def test_large_networks_have_a_table_of_layers(browser: Chrome, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    network = tmp_path / "net.json"
    network.write_text(network_to_json(layered_network([40, 30, 1], [[-1] * 12 + [1] * 18])))
    assert main(["connectivity", str(network), "--html", str(tmp_path / "net.html")]) == 1
    show(browser, tmp_path / "net.html")
    tables = [row for row in texts(browser, "table.sortable tbody tr") if row.startswith(("x ", "h1 ", "y "))]
    assert tables == ["x 0 40 0 0 0", "h1 30 0 1,200 0 0", "y 0 1 30 12 0"]
    assert errors(browser) == []


@pytest.fixture(scope="module")
def verdicts_page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("verdicts")
    with pytest.MonkeyPatch.context() as patch:
        cli_fakes.register(patch)
        patch.chdir(folder)
        for i in range(8):
            cli_fakes.write(folder, f"a{i}", "proved", title=f"proved number {i}")
        cli_fakes.write(folder, "b", "refuted", title="a refuted one")
        cli_fakes.write(folder, "c", "supported", title="a <supported> one")
        (folder / "d.toml").write_text("nonsense")
        assert main(["verify", ".", "--html", "page.html"]) == 2
        yield folder / "page.html"


def test_verdicts_are_filtered_by_outcome_together_with_their_details(browser: Chrome, verdicts_page: Path) -> None:
    show(browser, verdicts_page)
    rows = ".full table tbody tr td:first-child"
    assert len(texts(browser, rows)) == 11
    buttons = texts(browser, ".controls button")
    assert buttons[0] == "all (11)"
    kinds = [text.partition(" (")[0] for text in buttons[1:]]
    assert kinds == [kind for kind in OUTCOMES if kind in kinds]  # as in the table of the README, not as they occur
    click(browser, ".controls button", "supported")
    assert [text for text in texts(browser, rows) if text] == ["a <supported> one"]
    assert [text for text in texts(browser, "details.item > summary") if text] == ["supported a <supported> one"]
    click(browser, ".controls button", "all")
    assert len([text for text in texts(browser, rows) if text]) == 11


def test_a_link_unfolds_its_instance(browser: Chrome, verdicts_page: Path) -> None:
    show(browser, verdicts_page)
    assert "= 0" not in " ".join(texts(browser, "details.item:not([open])"))
    click(browser, ".full a", "a <supported> one")
    assert "zero = 0 0 0.25 0.5 yes no" in " ".join(" ".join(texts(browser, "details[open]")).split())
    refuted = [line for line in texts(browser, "li") if line.startswith("a refuted one")]
    assert refuted == ["a refuted one: refuted: zero = 0 is predicted within 0.5, but 7 ± 0.25 is measured"]
    assert errors(browser) == []


def test_verdicts_page_shows_how_close_measurements_are(browser: Chrome, verdicts_page: Path) -> None:
    show(browser, verdicts_page)
    kinds = browser.execute_script("return [...document.querySelectorAll('circle')].map((dot) => dot.classList.value)")
    assert sorted(set(kinds)) == ["no", "yes"]
    assert kinds.count("no") == 1  # 7 is 14 resolutions away


def test_verdicts_page_is_readable(browser: Chrome, verdicts_page: Path) -> None:
    require_readable(browser, verdicts_page)
    assert press_tab_through(browser) > 10


def test_numbers_are_ordered_as_numbers(browser: Chrome, tmp_path: Path) -> None:
    cells = ["10", "9", "-1/2", "1,000", "≥ 0.3777…", "−3", "inf", "1e-3", ""]
    listed = table(("value",), [(cell,) for cell in cells], label="values", kind="sortable")
    (tmp_path / "page.html").write_text(page("t", [heading(1, "t"), listed, element("p", "<script>alert(1)</script>")]))
    show(browser, tmp_path / "page.html")
    click(browser, "th button", "value")
    assert texts(browser, "tbody td") == ["−3", "-1/2", "1e-3", "≥ 0.3777…", "9", "10", "1,000", "", "inf"]
    assert texts(browser, "p") == ["<script>alert(1)</script>"]


def test_pages_connect_to_nothing(browser: Chrome, tmp_path: Path) -> None:
    """A page that tries is stopped by its own policy."""
    attempt = element("img", src="http://127.0.0.1:9/x.png", alt="")
    (tmp_path / "page.html").write_text(page("t", [heading(1, "t"), attempt]))
    show(browser, tmp_path / "page.html")
    said: list[Any] = errors(browser)
    assert len(said) == 1
    assert "Content Security Policy" in said[0]
