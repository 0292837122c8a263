"""The air of a run in a notebook: the page of a report, with its pictures and data inside, so that it opens offline.

Where anywidget is installed it is a widget whose `window` is what is seen, both ways; else a frame that any browser shows.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from html import escape
from typing import TYPE_CHECKING, Any

from ..data import arguments as given
from ..data.files import write_whole
from ..study.progress import Progress, progress_here
from .report import document
from .sides import side_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..data.result import Result

HEIGHT = 560

# Shows the page in a frame, which separates its styles from the notebook's; `lasthopPage` is the open page in it.
SCRIPT = """
function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = "the air of a run";
  frame.style.cssText = `width: 100%; height: ${model.get("height")}px; border: 0`;
  frame.srcdoc = model.get("document");
  el.append(frame);
  let page = null;
  const seen = () => [page.view.from / 1e9, page.view.to / 1e9];
  const same = (a, b) => a.length === b.length && a.every((end, i) => Math.abs(end - b[i]) < 1e-9);
  const show = () => {
    const asked = model.get("window");
    if (page && asked.length === 2 && !same(asked, seen())) page.view.show(asked[0] * 1e9, asked[1] * 1e9, true);
  };
  let pause = 0;
  const tell = () => {
    clearTimeout(pause);
    pause = setTimeout(() => {
      if (same(model.get("window"), seen())) return;
      model.set("window", seen());
      model.save_changes();
    }, 100);
  };
  const waiting = setInterval(() => {
    const inside = frame.contentWindow;
    if (!inside?.lasthopPage || inside.document.body.dataset.ready !== "true") return;
    clearInterval(waiting);
    page = inside.lasthopPage;
    show();
    page.view.listen(tell);
    tell();
  }, 50);
  model.on("change:window", show);
  return () => {
    clearInterval(waiting);
    clearTimeout(pause);
    model.off("change:window", show);
  };
}
export default { render };
"""


class AirView:
    """The page of one seed of a result; a notebook shows it, `save` writes it as a file."""

    def __init__(self, document: str, height: int = HEIGHT) -> None:
        self.document = document
        self.height = height

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the page as one HTML file, as `lasthop report` does."""
        write_whole(given.path("save", file, "the name of a file"), [self.document])

    def _repr_html_(self) -> str:
        style = f"width: 100%; height: {self.height}px; border: 0"
        return f'<iframe title="the air of a run" style="{style}" srcdoc="{escape(self.document)}"></iframe>'


def air(
    result: Result,
    seed: int | None = None,
    *,
    from_s: float | None = None,
    for_s: float | None = None,
    flow: str | Iterable[str] = (),
    height: int = HEIGHT,
    progress: bool | None = None,
) -> Any:
    """Shows in a notebook who sent, collided, deferred and backed off: the page of `lasthop report`, which needs no network.

    `seed`: the first unless told otherwise; recorded by running it again where it was not. `from_s`, `for_s`: where each
    frame is told, in simulated seconds, by default some 6000 frames after the warm-up. `flow`: patterns of the flows with
    curves. `height`: in pixels. `.save("air.html")` writes it. With the package anywidget it is a widget whose `window` is
    what is seen, in seconds, and may be set.
    Raises `ValueError` for an impossible window, `LookupError` for flows that there are not.
    """
    seed = _seed(result, seed)
    window = tuple(
        value if value is None else given.seconds(name, value) for name, value in (("from_s", from_s), ("for_s", for_s))
    )
    flows = given.names("flow", flow, "a pattern of names")
    height = given.whole("height", height, "a number of pixels")
    show = progress_here() if progress is None else progress
    with ExitStack() as stack, Progress.here("air", "runs") if show else Progress.silent() as bar:
        side = side_of(result, seed, stack, bar, window_s=window, flows=flows)
        text = "".join(document([side], bar))
    return _widget(text, height) or AirView(text, height)


def _seed(result: Result, asked: int | None) -> int:
    if not result.seeds:
        raise ValueError("air: the result holds no finished run")
    if asked is not None and given.whole("seed", asked, "a seed") not in result.seeds:
        raise ValueError(f"seed: {asked} was not run; there are {', '.join(map(str, result.seeds[:20]))}")
    return result.seeds[0] if asked is None else asked


def _widget(text: str, height: int) -> Any:
    """The widget, where anywidget is installed."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        return None

    class AirWidget(anywidget.AnyWidget):
        """The same as a widget; `window` has the begin and end of what is seen, in seconds."""

        _esm = SCRIPT
        document = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int(HEIGHT).tag(sync=True)
        window = traitlets.List(traitlets.Float()).tag(sync=True)

        save = AirView.save

    return AirWidget(document=text, height=height)
