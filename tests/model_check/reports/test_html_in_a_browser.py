"""The page in Chromium: it asks no network for anything, has no error, and the arrow keys go through a story.

Skipped where chromium and chromedriver are not on the PATH.
"""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from model_check.reports.html import report
from model_check.verdicts.results import Finding, Story, plain_document
from model_check.verdicts.verdict import Verdict
from tests.model_check.documents import run
from tests.model_check.reports.stories import INSTEAD, ZOMBIE

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="chromium and chromedriver are not on the PATH"),
    pytest.mark.takes("It starts a browser."),
]
HOSTILE = "</script><script>document.title = 'taken'</script><img src=http://127.0.0.1:9/x onerror=alert(2)>"
OFFLINE = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--window-size=1280,900",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """A browser that tells of everything that it is told to load, and of every error."""
    options = ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for word in (*OFFLINE, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with Chrome(options, ChromeService(str(DRIVER))) as opened:
        yield opened


def log(browser: Chrome, name: str) -> list[dict[str, Any]]:
    """What is in a log of the browser that was not asked for yet."""
    entries: list[dict[str, Any]] = browser.get_log(name)  # type: ignore[no-untyped-call]
    return entries


def shown(browser: Chrome, tmp_path: Path, *findings: Finding) -> None:
    """Open the page of a run with these findings."""
    file = tmp_path / "report.html"
    file.write_text(report(plain_document("explore", run(*findings, verdict=Verdict.VIOLATED))), "utf-8")
    log(browser, "performance")
    browser.get(file.as_uri())


def asked(browser: Chrome) -> list[str]:
    """What the browser was told to load since the page was opened; its own pages and inline data are no such thing."""
    events = [json.loads(one["message"])["message"] for one in log(browser, "performance")]
    loads = [one["params"]["request"]["url"] for one in events if one["method"] == "Network.requestWillBeSent"]
    return [one for one in loads if not one.startswith(("chrome:", "data:"))]


def finding(story: Story, name: str = "zombies_are_fenced") -> Finding:
    return Finding(name, "step", f"{name} holds.", "by hand", Verdict.VIOLATED, story=story)


def state(browser: Chrome) -> list[list[str]]:
    """The rows of the table beside the chosen step."""
    rows: list[list[str]] = browser.execute_script(
        "return [...document.querySelectorAll('.state tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    )
    return rows


def test_the_arrow_keys_go_through_the_steps_and_the_state_is_shown(browser: Chrome, tmp_path: Path) -> None:
    shown(browser, tmp_path, finding(ZOMBIE))
    story = browser.find_element(By.CLASS_NAME, "story")
    story.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert story.get_attribute("data-chosen") == "1"
    assert state(browser) == [["processes[1].session", "LIVE", "EXPIRED"]]
    story.send_keys(Keys.END)
    assert story.get_attribute("data-chosen") == "8"
    assert state(browser) == [["processes[1].session", "EXPIRED", "NONE"], ["controllers[1].active", "yes", "no"]]
    browser.find_element(By.CSS_SELECTOR, "input[type=checkbox]").click()
    assert {row[0]: row[1] for row in state(browser)}["controllers[2].epoch"] == "2"
    story.send_keys(Keys.ARROW_UP, Keys.HOME)
    assert story.get_attribute("data-chosen") == "0"
    assert {row[0]: row[2] for row in state(browser)} == dict(ZOMBIE.initial)
    assert log(browser, "browser") == []
    assert len(asked(browser)) == 1


def test_beside_the_chosen_step_stands_folded_why_the_rest_was_not_possible(browser: Chrome, tmp_path: Path) -> None:
    shown(browser, tmp_path, finding(replace(ZOMBIE, possibilities=INSTEAD)))
    story, rest = browser.find_element(By.CLASS_NAME, "story"), browser.find_element(By.CSS_SELECTOR, ".state .rest")
    story.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert not rest.is_displayed(), "of the first step nothing is told"
    told = []
    for _ in range(7):
        story.send_keys(Keys.ARROW_DOWN)
        assert rest.get_attribute("open") is None
        told.append((rest.text, [one.get_property("textContent") for one in rest.find_elements(By.TAG_NAME, "li")]))
    live, epoch = INSTEAD.reasons
    one, two = "why 1 other was not possible", "why 2 others were not possible"
    assert told == [
        *[(one, [f"{live}: read(c=1)"])] * 2,
        *[(two, [f"{epoch}: crash(b=2)", f"{live}: read(c=1)"])] * 3,
        (two, [f"{live}: crash(b=2), read(c=1)"]),
        (one, [f"{live}: crash(b=2)"]),
    ]
    assert "possible, too: read(c=1)" in browser.find_element(By.CSS_SELECTOR, ".state .what").text
    assert log(browser, "browser") == []


def test_a_click_on_a_head_sorts_a_table(browser: Chrome, tmp_path: Path) -> None:
    shown(browser, tmp_path, finding(ZOMBIE, "b"), finding(Story(8, ZOMBIE.steps, {}), "a"))
    head = browser.find_element(By.CSS_SELECTOR, ".sortable th")
    found = []
    for _ in range(2):
        head.click()
        found.append([one.text for one in browser.find_elements(By.CSS_SELECTOR, ".sortable td:first-child a")])
    assert found == [["a", "b"], ["b", "a"]]


def test_nothing_of_a_hostile_name_runs_or_is_loaded(browser: Chrome, tmp_path: Path) -> None:
    steps = tuple(replace(one, statement=HOSTILE, changes=(f"a: {HOSTILE} -> b",)) for one in ZOMBIE.steps)
    shown(browser, tmp_path, finding(Story(8, steps, {HOSTILE: HOSTILE}), HOSTILE))
    story = browser.find_element(By.CLASS_NAME, "story")
    story.send_keys(Keys.END)
    assert "taken" not in browser.title
    assert browser.find_elements(By.TAG_NAME, "img") == []
    assert log(browser, "browser") == []
    assert len(asked(browser)) == 1


@pytest.mark.slow
def test_three_thousand_steps_are_open_and_gone_through(browser: Chrome, tmp_path: Path) -> None:
    shown(browser, tmp_path, finding(Story(3000, ZOMBIE.steps * 375, ZOMBIE.initial)))
    story: Any = browser.find_element(By.CLASS_NAME, "story")
    story.send_keys(Keys.END)
    assert story.get_attribute("data-chosen") == "3000"
    assert log(browser, "browser") == []
