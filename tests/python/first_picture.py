"""Takes the first picture of README.md with a browser: `python tests/python/first_picture.py docs/page/first.png`.

A home network for a few milliseconds, in the page of its run, with letters that can be read where the README is shown 830 pixels wide.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import lasthop
from page_bench import browsing

SCENARIO = """
name = "home"
duration = "3 s"
warmup = "1 s"
[bss]
standard = "802.11ax"
channel_width = "40 MHz"
[[station]]
name = "tv"
distance = "4 m"
[[station]]
name = "laptop"
distance = "6 m"
[[station]]
name = "phone"
distance = "8 m"
[[station]]
name = "attic"
distance = "35 m"
[wired]
rate = "500 Mbit/s"
delay = "10 ms"
[[flow]]
station = "tv"
direction = "down"
[[flow]]
station = "laptop"
direction = "up"
[[flow]]
station = "phone"
direction = "both"
traffic = "voip"
[[flow]]
station = "attic"
direction = "down"
"""
RECORDED = "air,tcp,queue,backoff,waits,rate"
WIDTH, HEIGHT = 900, 560


def main(out: Path, begin_ms: float, length_ms: float) -> None:
    """Runs the network, opens its page and takes the picture."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder) / "home"
        lasthop.run(lasthop.Scenario(SCENARIO, "home.toml"), seeds=1, record=RECORDED, explain=True).save(where)
        with browsing(Path(folder)) as bench:
            page = bench.open("/", width=WIDTH, height=HEIGHT)
            page.get_by_role("link", name="home", exact=True).click()
            page.wait_for_selector(".run[data-settled=true]")
            page.evaluate(f"() => lasthopPage.view.show({begin_ms * 1e6}, {(begin_ms + length_ms) * 1e6})")
            page.wait_for_timeout(200)
            page.wait_for_selector(".run[data-settled=true]")
            legend, air = (page.locator(place).first.bounding_box() for place in (".legend", "canvas.air"))
            top = legend["y"] - 2
            page.screenshot(path=out, clip={"x": 0, "y": top, "width": WIDTH, "height": air["y"] + air["height"] - top})


if __name__ == "__main__":
    main(Path(sys.argv[1]), *(float(word) for word in sys.argv[2:4]))
