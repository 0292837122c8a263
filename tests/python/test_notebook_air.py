"""The air in a notebook: a frame that any browser shows, a widget where anywidget is; progress below the cell that runs."""

from __future__ import annotations

import builtins
import json
import sys
from contextlib import contextmanager

import lasthop
import pytest
from lasthop.page.notebook import SCRIPT, AirView
from lasthop.study.progress import Progress
from page_bench import chromium

TEXT = """
name = "air"
duration = "300 ms"
warmup = "100 ms"
[bss]
standard = "802.11n"
[[station]]
count = 2
[[flow]]
station = "*"
direction = "up"
"""
# The interface of a widget's model for its script.
MODEL = """
const state = { document: DOCUMENT, height: 500, window: [0.1, 0.2] }, listeners = {};
globalThis.model = {
  state, saved: 0,
  get: (name) => state[name],
  set: (name, value) => { state[name] = value; },
  on: (name, listener) => { listeners[name] = listener; },
  off: (name) => { delete listeners[name]; },
  save_changes() { this.saved += 1; },
  fire: (name) => listeners[name]?.(),
  listeners,
};
"""


@pytest.fixture(scope="module")
def result():
    return lasthop.run(lasthop.Scenario(TEXT, "air.toml"), seeds=1, interval_s=None)


@pytest.fixture(scope="module")
def view(result):
    """The page as it is shown where there is no anywidget."""
    found = result.air(from_s=0.1, for_s=0.02)
    return AirView(found.document, 500)


@contextmanager
def browser_page(file):
    """A file in a browser, in which nothing may complain and nobody is asked."""
    program = chromium()
    from playwright.sync_api import sync_playwright

    complaints = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 800})
        page.on("console", lambda said: said.type in ("error", "warning") and complaints.append(said.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        own = ("file:", "data:", "blob:", "about:")
        page.on(
            "request", lambda asked: asked.url.startswith(own) or complaints.append(f"asked elsewhere: {asked.url}")
        )
        page.goto(file.as_uri())
        yield page
        browser.close()
    assert complaints == []


def test_the_frame_of_a_notebook_shows_the_air_offline(view, tmp_path):
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{view._repr_html_()}</body>")
    with browser_page(file) as page:
        frame = page.frame_locator("iframe")
        frame.locator("body[data-ready]").wait_for(timeout=30_000)
        box = frame.locator("canvas.air").bounding_box()
        assert box["width"] > 600 and box["height"] > 50
        assert page.locator("iframe").bounding_box()["height"] == 500


def test_the_window_of_the_widget_follows_in_both_directions(view, tmp_path):
    file = tmp_path / "widget.html"
    model = MODEL.replace("DOCUMENT", json.dumps(view.document).replace("</", "<\\/"))
    script = SCRIPT.replace("export default { render };", "globalThis.end = render({ model, el: document.body });")
    file.write_text(f"<!doctype html><meta charset=utf-8><body><script type=module>{model}{script}</script></body>")
    with browser_page(file) as page:
        page.frame_locator("iframe").locator("body[data-ready]").wait_for(timeout=30_000)
        inside = "document.querySelector('iframe').contentWindow.lasthopPage.view"
        # A window requested before the drawing is shown.
        page.wait_for_function(f"Math.abs({inside}.from - 1e8) < 1 && Math.abs({inside}.to - 2e8) < 1")
        # The window in view is reported.
        page.evaluate(f"{inside}.show(1.2e8, 1.3e8)")
        page.wait_for_function(
            "Math.abs(model.state.window[0] - 0.12) < 1e-9 && Math.abs(model.state.window[1] - 0.13) < 1e-9"
        )
        saved = page.evaluate("model.saved")
        # A later request is shown, and not reported back.
        page.evaluate("model.set('window', [0.15, 0.16]); model.fire('change:window')")
        page.wait_for_function(f"Math.abs({inside}.from - 1.5e8) < 1")
        page.wait_for_timeout(300)
        assert page.evaluate("model.saved") == saved
        page.evaluate("end()")
        assert page.evaluate("Object.keys(model.listeners).length") == 0


def test_a_widget_is_made_where_anywidget_is(result):
    pytest.importorskip("anywidget")
    widget = result.air(height=300)
    assert widget.height == 300 and list(widget.window) == [] and "lasthop" in widget.document
    assert "application/vnd.jupyter.widget-view+json" in widget._repr_mimebundle_()[0]


def test_without_anywidget_it_is_a_frame(result, monkeypatch, tmp_path):
    importing = builtins.__import__

    def without(name, *rest):
        if name == "anywidget":
            raise ImportError(name)
        return importing(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    found = result.air()
    assert type(found) is AirView and found._repr_html_().startswith("<iframe ")
    found.save(tmp_path / "air.html")
    assert (tmp_path / "air.html").read_text() == found.document


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"seed": 9}, ValueError, "seed: 9 was not run; the result has 1"),
        ({"from_s": "1 s"}, TypeError, "from_s: a number of seconds"),
        ({"from_s": 5}, ValueError, "the run of 0.3 s ends before 5 s"),
        ({"flow": "zzz"}, LookupError, "no flow matches zzz"),
        ({"height": None}, TypeError, "height: a number of pixels"),
    ],
)
def test_impossible_windows_are_one_sentence(result, options, kind, words):
    with pytest.raises(kind, match=words):
        result.air(**options)


class Handle:
    """What `display` gives back, as IPython's: what was shown with it, in order."""

    def __init__(self):
        self.shown = []

    def update(self, bundle, *, raw):
        assert raw
        self.shown.append(bundle)


@pytest.fixture
def kernel(monkeypatch):
    """A process that looks like the kernel of a notebook, and what it displays."""
    IPython = pytest.importorskip("IPython")
    pytest.importorskip("IPython.display")

    handle = Handle()
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    monkeypatch.setattr(IPython, "get_ipython", lambda: type("Shell", (), {"kernel": object()})())
    monkeypatch.setattr(IPython.display, "display", lambda bundle, **_: handle.shown.append(bundle) or handle)
    return handle


def test_progress_in_a_notebook_needs_no_widgets_and_goes_at_the_end(kernel):
    with Progress.here("<sweep>", "runs") as progress:
        progress.update(0.25, 2, 8)
        progress.update(0.26, 2, 8)  # too soon after the first to be drawn
    first, drawn, last = kernel.shown
    assert "&lt;sweep&gt;" in first["text/html"] and '<progress value="0.0000"' in first["text/html"]
    assert '<progress value="0.2500"' in drawn["text/html"] and drawn["text/plain"] == "<sweep> 25% 2/8 runs"
    assert last == {"text/html": "", "text/plain": ""}


def test_a_notebook_runs_from_its_first_cell_to_its_last(tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = [
        f"import lasthop\nresult = lasthop.run(lasthop.Scenario({TEXT!r}, 'air.toml'), seeds=2)\nresult",
        "result.plot('goodput')",
        "result.air()",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    try:
        nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    except getattr(nbclient.exceptions, "NoSuchKernel", ()) as none:
        pytest.skip(f"no kernel: {none}")
    outputs = [cell["outputs"] for cell in book["cells"]]
    kinds = [[kind for output in each for kind in output.get("data", {})] for each in outputs]
    assert all(
        output["output_type"] != "error" and output.get("name") != "stderr" for each in outputs for output in each
    ), outputs
    assert any("goodput" in output.get("data", {}).get("text/html", "") for output in outputs[0])
    assert "image/svg+xml" in kinds[1]
    assert {"application/vnd.jupyter.widget-view+json", "text/html"} & set(kinds[2])
