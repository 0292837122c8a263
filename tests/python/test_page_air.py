"""The page of a run in a browser: from the whole run to microseconds, what clicks open, and the file that opens from disk."""

from pathlib import Path

import lasthop
import pytest
from lasthop.cli import main
from page_bench import browsing, chromium

ROOT = Path(__file__).parents[2]
SETTLED = ".run[data-settled=true]"

QUIC = """
name = "quic"
duration = "800 ms"
warmup = "200 ms"
[bss]
standard = "802.11n"
[[station]]
name = "a"
[[flow]]
station = "a"
direction = "down"
transport = "quic"
"""


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Two runs of a small busy network, recorded, the second with another congestion control; two of a flow over QUIC."""
    chromium()
    where = tmp_path_factory.mktemp("air")
    for name, control in (("a", "cubic"), ("b", "bbr")):
        scenario = lasthop.load(ROOT / "scenarios/office-11ax.toml").set("duration", "3 s").set("warmup", "1 s")
        scenario = scenario.set("tcp.congestion_control", control).set("name", name)
        lasthop.run(scenario, seeds=1, record="air,tcp,queue,backoff,waits,rate", explain=True).save(where / name)
    for name, tables in (("quic", "air,tcp"), ("quic-packets", "air,tcp,quic")):
        lasthop.run(lasthop.Scenario(QUIC, "quic.toml"), seeds=1, record=tables, explain=True).save(where / name)
    return where


@pytest.fixture(scope="module")
def bench(places):
    with browsing(places) as opened:
        yield opened


@pytest.fixture
def page(bench):
    """The page of run `a`, drawn."""
    page = bench.open("/", width=1300, height=1000)
    page.get_by_role("link", name="a", exact=True).click()
    page.wait_for_selector(SETTLED)
    yield page
    page.close()


def settled(page):
    page.wait_for_timeout(60)
    page.wait_for_selector(SETTLED)


def state(page):
    return page.evaluate("() => { const { view, air } = lasthopPage; return [view.from, view.to, air.isExact]; }")


def show(page, begin, end):
    page.evaluate(f"() => lasthopPage.view.show({begin}, {end})")
    settled(page)


def place_of(page, condition):
    """Where on the page a PPDU is of whose row in its tile `condition` is true, and its number."""
    return page.evaluate(
        """(condition) => {
      const { air, view } = lasthopPage, box = air.canvas.getBoundingClientRect(), meets = new Function('c', 'i', `return ${condition}`);
      for (const tile of air.exact) for (let i = 0; i < tile.length; i += 1) {
        const c = tile.columns, middle = c.start[i] + c.duration[i] / 2, y = air.place.get(c.node[i]);
        if (y !== undefined && middle > view.from && middle < view.to && meets(c, i))
          return [box.x + air.x(middle), box.y + y + air.rowHeight / 2, c.ppdu[i]];
      }
    }""",
        condition,
    )


def test_zoom_ends_at_the_shortest_frame_and_names_the_way_back(page):
    box = page.locator("canvas.air").bounding_box()
    page.mouse.move(box["x"] + 700, box["y"] + 40)
    for _ in range(80):
        page.mouse.wheel(0, -400)
    settled(page)
    begin, end, _ = state(page)
    # 20 us of preamble and SIGNAL and a symbol of 4 us [802.11-2020 §17.3.2.1].
    assert end - begin == pytest.approx(24_000)
    assert "0 shows the whole run" in page.locator(".tools .mono").first.inner_text()
    page.keyboard.press("0")
    settled(page)
    assert state(page)[:2] == [0, 3e9]


def test_the_whole_run_is_drawn_and_zoomed_to_microseconds(page):
    begin, end, exact = state(page)
    assert (begin, end, exact) == (0, 3e9, False)
    box = page.locator("canvas.air").bounding_box()
    page.mouse.move(box["x"] + 700, box["y"] + 40)
    for _ in range(60):
        page.mouse.wheel(0, -400)
        if state(page)[1] - state(page)[0] < 50_000:
            break
    settled(page)
    begin, end, exact = state(page)
    assert exact and end - begin < 50_000
    assert "µs of 3 s" in page.locator(".tools .mono").inner_text()


def test_keys_zoom_pan_and_go_back(page):
    page.keyboard.press("w")
    begin, end, _ = state(page)
    assert end - begin < 3e9
    page.keyboard.press("d")
    assert state(page)[0] > begin
    page.keyboard.press("0")
    assert state(page)[:2] == [0, 3e9]
    page.keyboard.press("Backspace")
    assert state(page)[0] > begin
    page.keyboard.press("l")
    assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"
    page.keyboard.press("l")


def test_a_click_on_a_collided_frame_shows_the_cause(page):
    show(page, 1.5e9, 1.53e9)
    x, y, ppdu = place_of(page, "c.lost[i] === 0 && c.decoded[i] === 0 && c.duration[i] > 60000")
    page.mouse.click(x, y)
    page.wait_for_selector(".details .why")
    assert "lost to a collision; on the air with it" in page.locator(".details .why").inner_text()
    assert page.evaluate("() => lasthopPage.air.selected") == ppdu
    page.locator(".details ul button.link").first.click()
    settled(page)
    page.keyboard.press("Escape")
    assert page.evaluate("() => lasthopPage.air.selected") is None


def test_a_packet_leads_to_every_frame_that_held_it(page):
    show(page, 1.5e9, 1.52e9)
    x, y, ppdu = place_of(page, "c.kind[i] === 5 && c.mpdus[i] > 3")
    page.mouse.click(x, y)
    page.locator(".details .packets button").first.click()
    page.wait_for_selector(".details h3:has-text('PPDU')")
    assert ppdu in page.evaluate("() => [...lasthopPage.air.marked]")
    page.locator(".details ul button.link", has_text="A-MPDU").first.click()
    page.wait_for_selector(".details h2:has-text('A-MPDU')")


def test_a_flow_is_chosen_and_a_click_on_its_segments_leads_to_frames(page):
    page.get_by_label("flow", exact=True).select_option("bulk2.down")
    settled(page)
    assert page.locator(".chart[data-chart=sequence] h3").inner_text().startswith("Sequence numbers of bulk2.down")
    show(page, 1.5e9, 1.6e9)
    page.locator(".chart[data-chart=sequence]").scroll_into_view_if_needed()
    at = page.evaluate("""() => {
      const chart = lasthopPage.charts.find((one) => one.name === 'sequence'), rows = chart.rows[0], box = chart.chart.over.getBoundingClientRect();
      const i = rows.t.findIndex((t) => t > lasthopPage.view.from);
      return [box.x + chart.chart.valToPos(rows.t[i] / 1e9, 'x'), box.y + chart.chart.valToPos(rows.low[i], 'y')];
    }""")
    page.mouse.click(*at)
    page.wait_for_selector(".details h2:has-text('bulk2.down ↓ packet')")
    page.wait_for_selector(".details h3:has-text('At its hosts')")


def test_a_curve_begins_with_the_value_that_held_before(page):
    show(page, 1.5e9, 1.52e9)
    times = page.evaluate(
        "() => lasthopPage.charts.find((one) => one.name === 'window').rows.map((rows) => rows.t.slice(0, 2))"
    )
    assert all(first <= 1.5e9 for first, *_ in times), times
    # The page loads some more on either side, at most as much as is shown.
    assert all(second >= 1.48e9 for _, second in times if second), times


def test_the_explanation_has_sentences_and_bars_that_select_time(page):
    page.wait_for_selector(".explained li", timeout=60_000)
    assert "of its time" in page.locator(".explained").inner_text()
    page.locator(".explained button.link").first.click()
    bars = page.locator("canvas.bars").first
    page.wait_for_function("() => lasthopPage.explained.flowBars.terms")
    settled(page)
    bars.scroll_into_view_if_needed()
    box = bars.bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.7, box["y"] + box["height"] * 0.8)
    begin, end, _ = state(page)
    assert end - begin == pytest.approx(2e9 / 120, rel=0.01)


def test_it_fits_a_telephone_and_a_large_screen(bench):
    for width in (420, 3840):
        page = bench.open("/", width=width)
        page.get_by_role("link", name="a", exact=True).click()
        page.wait_for_selector(SETTLED)
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        page.close()


def test_zooming_takes_a_few_milliseconds(page):
    """With any number of PPDUs: tiles bound what is drawn. Generous, as the machine may be busy."""
    times = page.evaluate("""async () => {
      const times = [];
      for (let span = 3e9; span > 1e5; span /= 2) {
        lasthopPage.view.show(1.5e9 - span / 2, 1.5e9 + span / 2);
        for (let n = 0; n < 200 && (lasthopPage.tiles.busy || lasthopPage.due); n += 1) await new Promise((r) => setTimeout(r, 5));
        lasthopPage.air.draw();
        times.push(lasthopPage.air.drewFor);
      }
      return times.sort((a, b) => a - b);
    }""")
    assert times[len(times) // 2] < 50


def test_two_airs_follow_one_another(bench, places):
    page = bench.open("/", width=1300)
    for box in page.locator("input[type=checkbox]").all()[:2]:
        box.check()
    page.get_by_role("link", name="Compare two").or_(page.get_by_role("button", name="Compare two")).click()
    page.get_by_role("button", name="Show both on one time axis").click()
    page.wait_for_selector(SETTLED, timeout=60_000)
    assert page.locator("canvas.air").count() == 2
    show(page, 1e9, 1.1e9)
    page.keyboard.press("w")
    settled(page)
    assert page.locator(".chart[data-chart=window]").count() == 2
    page.close()


def test_a_report_opens_from_disk(bench, places, tmp_path):
    one, two = tmp_path / "one.html", tmp_path / "two.html"
    assert main(["report", str(places / "a"), "--out", str(one), "--from", "1.5s", "--for", "30ms"]) == 0
    assert main(["report", str(places / "a"), str(places / "b"), "--out", str(two), "--for", "10ms"]) == 0
    page, complaints = bench.from_disk(one)
    page.wait_for_selector(SETTLED)
    page.get_by_role("button", name="show these").click()
    settled(page)
    assert state(page)[2]
    x, y, _ = place_of(page, "c.kind[i] === 5 && c.mpdus[i] > 3")
    page.mouse.click(x, y)
    page.locator(".details .packets button").first.click()
    page.wait_for_selector(".details h3:has-text('PPDU')")
    page.wait_for_selector(".explained li")
    page.goto(two.as_uri())
    page.wait_for_selector(SETTLED)
    assert page.locator("canvas.air").count() == 2
    assert "What their scenarios have otherwise" in page.locator("main").inner_text()
    page.close()
    assert complaints == []


@pytest.mark.parametrize(
    ("name", "shown"), [("quic", ["Window", "RTT"]), ("quic-packets", ["Packet numbers", "Window", "RTT"])]
)
def test_a_flow_over_quic_has_its_charts(bench, name, shown):
    page = bench.open("/", width=1300, height=1000)
    page.get_by_role("link", name=name, exact=True).click()
    page.wait_for_selector(SETTLED)
    text = page.locator(".timed").inner_text()
    charts = ("Sequence numbers", "Packet numbers", "Window", "RTT")
    assert [chart for chart in charts if f"{chart} of a.down" in text] == shown
    page.close()
