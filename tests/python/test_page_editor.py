"""The list of runs, the editor, the map, comparisons and papers in a browser: as people use them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from page_bench import Browser, browsing

PLACES = """\
name = "places"                     # a remark
duration = "1 s"
warmup = "100 ms"

[channel]
path_loss = "multi_wall"
error_model = "nist"
hidden = [["east", "west"]]

[bss]
standard = "802.11n"

[bss.ap]
position = ["0 m", "0 m"]           # in the middle

[[station]]
name = "east"
position = ["10 m", "0 m"]          # by the window

[[station]]
name = "west"
position = ["-10 m", "0 m"]

[[station]]
name = "ring"
count = 3
distance = "6 m"

[[wall]]
from = ["5 m", "-5 m"]
to = ["5 m", "5 m"]

[[flow]]
station = "*"
direction = "up"
"""
LONG = PLACES.replace('duration = "1 s"', 'duration = "50000 s"')
MANY = PLACES.replace('duration = "1 s"', 'duration = "20 s"')


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("page")
    for name, text in (("places", PLACES), ("long", LONG), ("many", MANY)):
        (place / f"{name}.toml").write_text(text)
    return place


@pytest.fixture(scope="module")
def browser(root: Path) -> Iterator[Browser]:
    with browsing(root) as bench:
        yield bench


@pytest.fixture(autouse=True)
def nothing_went_wrong(browser: Browser) -> Iterator[None]:
    yield
    said, browser.complaints[:] = browser.complaints[:], []
    assert said == []


def editor(browser: Browser, name: str = "places", **window: Any) -> Any:
    """The editor with one of the scenarios in it, checked."""
    page = browser.open("/", **window)
    page.click(f'a:text-is("{name}")')
    page.wait_for_selector("[data-checked=right]")
    return page


def text_of(page: Any) -> str:
    """All lines of the editor, which are few enough to be drawn."""
    return "\n".join(page.locator(".cm-line").all_inner_texts()).replace("\u200b", "")


def replace(page: Any, old: str, new: str) -> None:
    """Selects what is there and types over it, as a user does."""
    page.locator(".cm-content").focus()
    page.keyboard.press("Control+f")
    page.locator(".cm-search [name=search]").press_sequentially(old)
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.keyboard.insert_text(new)


def accept(page: Any) -> None:
    """Takes what is offered: the editor lets an Enter pass that comes as soon as the list does."""
    page.wait_for_timeout(150)
    page.keyboard.press("Enter")


def test_a_mistake_is_marked_at_its_line_until_it_is_mended(browser: Browser) -> None:
    page = editor(browser)
    replace(page, '"802.11n"', '"802.11zz"')
    page.wait_for_selector("[data-checked=wrong]")
    assert page.locator(".cm-lintRange-error").inner_text() == '"802.11zz"'
    assert 'unknown standard "802.11zz"' in page.locator(".said").inner_text()
    assert page.locator(".said button").inner_text() == "line 11"
    assert page.locator("#run").is_disabled()
    replace(page, '"802.11zz"', '"802.11ac"')
    page.wait_for_selector("[data-checked=right]")
    assert page.locator(".cm-lintRange-error").count() == 0
    assert page.locator("#run").is_enabled()


def test_keys_and_values_are_offered_with_their_meaning(browser: Browser) -> None:
    page = editor(browser)
    page.locator(".cm-content").focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("conges")
    page.wait_for_selector('.cm-tooltip-autocomplete li:has-text("congestion_control")')
    accept(page)
    page.keyboard.type('"cub')
    page.wait_for_selector('.cm-tooltip-autocomplete li:has-text("cubic")')
    assert "cubic function" in page.locator(".cm-completionInfo").inner_text()
    accept(page)
    page.wait_for_selector("[data-checked=right]")
    assert text_of(page).endswith('congestion_control = "cubic"')


def test_enter_after_a_value_that_is_written_out_begins_a_line(browser: Browser) -> None:
    page = editor(browser)
    page.locator(".cm-content").focus()
    page.keyboard.press("Control+End")
    page.keyboard.type('congestion_control = "cubic"', delay=40)
    page.wait_for_timeout(400)
    page.keyboard.press("Enter")
    page.keyboard.insert_text("# next")
    page.wait_for_selector("[data-checked=right]")
    assert text_of(page).endswith('congestion_control = "cubic"\n# next')


def test_sections_and_inline_tables_are_offered(browser: Browser) -> None:
    page = editor(browser)
    page.locator(".cm-content").focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("[tc")
    page.wait_for_selector('.cm-tooltip-autocomplete li:has-text("tcp")')
    accept(page)
    page.keyboard.press("End")
    page.keyboard.type('\ncongestion_control = { kind = "cubic", hyst')
    page.wait_for_selector('.cm-tooltip-autocomplete li:has-text("hystart")')


def test_a_key_under_the_pointer_shows_its_help(browser: Browser) -> None:
    page = editor(browser)
    page.locator('.cm-line:has-text("warmup") span').first.hover()
    page.wait_for_selector(".meaning")
    said = page.locator(".meaning").inner_text()
    assert "Summaries cover the time from here to the end." in said
    assert "a time" in said


def dragged(page: Any, what: str, right: float, down: float) -> None:
    """Drags something on the map by pixels."""
    page.locator(f'[data-what="{what}"]').scroll_into_view_if_needed()
    box = page.locator(f'[data-what="{what}"] :is(circle, path)').bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + right / 2, y + down / 2)
    page.mouse.move(x + right, y + down)
    page.mouse.up()


def test_dragging_edits_the_position_in_place(browser: Browser) -> None:
    page = editor(browser)
    before = text_of(page)
    dragged(page, "east", 0, -40)
    page.wait_for_function('() => !document.querySelector(".cm-content").innerText.includes(\'["10 m", "0 m"]\')')
    after = text_of(page)
    changed = [(old, new) for old, new in zip(before.split("\n"), after.split("\n"), strict=True) if old != new]
    [(old, new)] = changed
    assert old == 'position = ["10 m", "0 m"]          # by the window'
    assert new.startswith('position = ["10')
    assert new.endswith("# by the window")
    assert '"0 m"' not in new
    page.wait_for_selector("[data-checked=right]")


def test_arrow_keys_move_by_a_metre_and_keep_the_focus(browser: Browser) -> None:
    page = editor(browser)
    page.locator('[data-what="west"]').focus()
    for key in ("ArrowLeft", "ArrowUp", "ArrowUp", "Shift+ArrowDown"):
        before = text_of(page)
        page.keyboard.press(key)
        page.wait_for_function(
            "before => [...document.querySelectorAll('.cm-line')].map(l => l.innerText).join('\\n') != before",
            arg=before,
        )
        page.wait_for_timeout(100)
        page.wait_for_function("() => document.activeElement.dataset.what == 'west'")
    assert 'position = ["-11 m", "1.9 m"]' in text_of(page)


def test_a_group_on_a_circle_changes_its_distance(browser: Browser) -> None:
    page = editor(browser)
    page.locator('[data-what="ring1"]').focus()
    assert "changes its distance" in page.locator(".map ~ p").inner_text()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('.cm-content').innerText.includes('distance = \"7 m\"')")


def test_the_end_of_a_wall_is_moved(browser: Browser) -> None:
    page = editor(browser)
    page.locator('[data-what="wall.0.to"]').focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('.cm-content').innerText.includes('to = [\"6 m\", \"5 m\"]')")


def test_a_run_shows_how_it_goes_and_leads_to_its_result(browser: Browser) -> None:
    page = editor(browser)
    page.fill("#seeds", "2")
    page.click("#run")
    page.wait_for_selector(".job [role=status]")
    page.wait_for_url("**/run/*", timeout=60_000)
    page.wait_for_selector("body[data-ready]")
    assert page.locator("h1", has_text="places").count() == 1
    page = browser.go(page, "/")
    page.wait_for_function("() => document.querySelector('table.list').innerText.includes('bit/s')")
    row = page.locator("table.list tr", has_text="places-1").first.inner_text()
    assert "air, account" in row


def test_a_run_goes_on_while_its_page_is_closed_and_is_stopped_from_another(browser: Browser) -> None:
    page = editor(browser, "long")
    page.click("#run")
    page.wait_for_selector(".job[data-state=running]")
    page.close()
    page = browser.open("/")
    page.wait_for_selector(".job[data-state=running]")
    page.click(".job button")
    page.wait_for_selector(".job[data-state=stopped]")
    assert "stopped before a seed was finished" in page.locator(".job").inner_text()


def test_finished_seeds_of_a_stopped_run_open(browser: Browser) -> None:
    page = editor(browser, "many")
    page.fill("#seeds", "1000")
    page.uncheck("#records")
    page.click("#run")
    page.wait_for_function(
        "() => / [1-9]\\d* of 1000 seeds/.test(document.querySelector('.job')?.innerText)", timeout=60_000
    )
    page.click(".job button")
    page.wait_for_selector(".job[data-state=stopped] a.open")


def test_replacing_a_saved_text_needs_confirmation(browser: Browser, root: Path) -> None:
    page = editor(browser)
    replace(page, '"802.11n"', '"802.11ax"')
    page.fill(".file-name", "saved.toml")
    page.click("#save")
    page.wait_for_selector('#notes:has-text("saved as saved.toml")')
    assert (root / "saved.toml").read_text() == PLACES.replace('"802.11n"', '"802.11ax"')
    replace(page, '"802.11ax"', '"802.11ac"')
    page.click("#save")
    page.click('button:has-text("Replace it")')
    page.wait_for_selector('#notes:has-text("saved as saved.toml (2 times)")')
    assert '"802.11ac"' in (root / "saved.toml").read_text()
    with page.expect_download() as download:
        page.click("#download")
    assert Path(download.value.path()).read_text() == PLACES.replace('"802.11n"', '"802.11ac"')
    (root / "saved.toml").unlink()
    # The browser itself reports the answer that made the page ask.
    browser.complaints[:] = [text for text in browser.complaints if "409 (Conflict)" not in text]


def test_the_list_is_filtered_and_two_are_compared(browser: Browser) -> None:
    page = editor(browser)
    for standard in ("802.11n", "802.11ax"):
        replace(page, '"802.11n"', f'"{standard}"')
        page.wait_for_selector("[data-checked=right]")
        page.click("#run")
        page.wait_for_url("**/run/*", timeout=60_000)
        page = editor(browser)
        page.evaluate("document.querySelectorAll('.job').forEach((job) => job.remove())")
    browser.go(page, "/")
    page.fill(".filter", "nothing is called so")
    assert page.locator("table.list tbody tr:visible").count() == 0
    page.fill(".filter", "places-")
    boxes = page.locator("table.list input[type=checkbox]:visible")
    boxes.nth(0).check()
    boxes.nth(1).check()
    page.click("#compare")
    page.wait_for_selector("#differences tbody tr")
    assert "bss.0.standard" in page.locator("#scenarios").inner_text()
    assert "B delivers" in page.locator("#why").inner_text()
    assert page.locator("#airs").count() == 1
    page.click("#plots summary")
    page.wait_for_function("() => document.querySelector('img.picture').naturalWidth > 100")


def test_a_text_that_was_changed_meanwhile_is_not_left(browser: Browser) -> None:
    page = editor(browser)
    asked: list[Any] = []
    page.route("**/api/runs", lambda route: asked.append(route))
    page.click("#run")
    replace(page, '"802.11n"', '"802.11ac"')
    # The run is of the text at the click, and may end at once.
    asked[0].continue_()
    page.wait_for_selector(".job[data-state=done] a.open", timeout=60_000)
    assert "/scenario" in page.url and "802.11ac" in text_of(page)


def test_two_runs_can_be_chosen_for_a_comparison(browser: Browser) -> None:
    page = browser.open("/compare")
    assert page.locator("select[name=a]").count() == page.locator("select[name=b]").count() == 1
    page.click("button.main")
    page.wait_for_selector("#differences tbody tr")


def test_papers_list_claims_and_their_scenarios(browser: Browser) -> None:
    page = browser.open("/papers")
    page.click('a:text-is("Heusse 2003")')
    page.wait_for_selector("#H-1")
    page.click("#H-1 summary")
    assert "0.9 to 1.1" in page.locator("#H-1").inner_text()
    page.click("#H-1 .behind")
    page.wait_for_selector('#H-1 a:has-text("open its scenario")')
    page.locator('#H-1 a:has-text("open its scenario")').first.click()
    page.wait_for_selector("[data-checked=right]")
    assert "802.11b" in text_of(page)


def test_a_missing_page_shows_a_sentence(browser: Browser) -> None:
    for path, said in (
        ("/scenario?from=nothing", "is not, or no longer"),
        ("/papers/nothing", "no such paper"),
        ("/compare?a=x&b=y", "is not, or no longer"),
    ):
        page = browser.open(path)
        assert said in page.locator("main .failure").inner_text()
        page.close()
    # The browser itself reports the answers 404 and 410.
    kept = [text for text in browser.complaints if "404" not in text and "410" not in text]
    browser.complaints[:] = kept


def test_an_unknown_address_has_the_way_back(browser: Browser) -> None:
    page = browser.open("/no/such")
    assert "No such page" in page.locator("main").inner_text() and "/no/such" in page.locator("main").inner_text()
    page.click('main a:text-is("Runs")')
    page.wait_for_selector("table.list")
    browser.complaints[:] = [text for text in browser.complaints if "404" not in text and "410" not in text]


def test_ready_scenarios_are_offered_beside_own_ones(browser: Browser) -> None:
    page = editor(browser)
    assert page.locator("#others optgroup").count() == 2
    page.select_option("#others", label="tcp-nup")
    page.wait_for_selector("[data-checked=right]")
    page.wait_for_function("() => document.querySelector('h1')?.innerText === 'tcp-nup'")


def test_nodes_and_labels_of_the_map_are_apart(browser: Browser) -> None:
    page = browser.open("/scenario")
    page.wait_for_selector("[data-checked=right]")
    page.select_option("#others", label="office-11ax")
    page.wait_for_function("() => document.querySelector('h1')?.innerText === 'office-11ax'")
    page.wait_for_function("() => document.querySelectorAll('.map .node').length > 20")
    boxes = page.evaluate(
        "() => ['.map .node circle', '.map .node text'].map((what) => [...document.querySelectorAll(what)]"
        ".map((each) => { const b = each.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; }))"
    )
    for of_kind, air in zip(boxes, (1.0, 1.5), strict=True):
        assert len(of_kind) > 5
        smaller = [(left + air, top + air, right - air, bottom - air) for left, top, right, bottom in of_kind]
        over = [
            (one, other)
            for one, other in combinations(smaller, 2)
            if one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
        ]
        assert over == []


def test_papers_are_cards_on_a_telephone_and_cut_tables_show_it(browser: Browser) -> None:
    page = browser.open("/papers", width=390, height=800)
    widths = page.locator("table.cards tr").evaluate_all("rows => rows.map((row) => row.getBoundingClientRect().width)")
    assert len(widths) > 5 and max(widths) <= 390
    page = browser.open("/", width=390, height=800)
    assert "gradient" in page.locator(".scroll").first.evaluate("box => getComputedStyle(box).backgroundImage")


@pytest.mark.parametrize("path", ["/", "/scenario", "/compare", "/papers", "/papers/khademi2011"])
@pytest.mark.parametrize("dark", [False, True])
def test_pages_fit_a_small_window(browser: Browser, path: str, dark: bool) -> None:
    page = browser.open(path, width=420, height=800, dark=dark)
    page.wait_for_timeout(200)
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    page.close()


def test_texts_of_files_are_shown_and_not_run(browser: Browser, root: Path) -> None:
    name = '<img src=x onerror="document.title=1">'
    (root / "odd.toml").write_text(PLACES.replace('name = "places"', f"name = '{name}'\ndescription = '{name}'"))
    page = browser.open("/")
    page.wait_for_selector(f"td.description:has-text('{name[:8]}')")
    page.click('a:text-is("odd")')
    page.wait_for_selector("[data-checked=right]")
    assert page.locator("h1").inner_text() == name
    assert page.locator("main img").count() == 0
    (root / "odd.toml").unlink()
