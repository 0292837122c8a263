"""The air of a run in a notebook: the page of a report, with its pictures and data inside, so that it opens offline.

With anywidget it is a widget whose `window` is the visible window, both ways; without, a frame that any browser shows.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from html import escape
from typing import TYPE_CHECKING, Any

from ..data import arguments as checked
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
        write_whole(checked.path("save", file, "the name of a file"), [self.document])

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
    """Shows a run's transmissions, collisions, deferrals and backoffs in a notebook: the page of `lasthop report`,
    offline.

    `seed` is the first by default; it runs again if it was not recorded. `from_s` and `for_s` set the window with every
    single frame, in simulated seconds, by default some 6000 frames after the warm-up. `flow` has patterns of the flows
    with curves. `height` is in pixels. `.save("air.html")` writes the page. With the package anywidget it is a widget
    whose `window`, in seconds, is the visible window and may be set.

    Raises `ValueError` for an impossible window, `LookupError` for unknown flows.
    """
    seed = _seed(result, seed)
    begin = None if from_s is None else checked.seconds("from_s", from_s)
    length = None if for_s is None else checked.seconds("for_s", for_s)
    flows = checked.names("flow", flow, "a pattern of names")
    height = checked.whole("height", height, "a number of pixels")
    show = progress_here() if progress is None else progress
    with ExitStack() as stack, Progress.here("air", "runs") if show else Progress.silent() as bar:
        side = side_of(result, seed, stack, bar, window_s=(begin, length), flows=flows)
        text = "".join(document([side], bar))
    return _widget(text, height) or AirView(text, height)


def _seed(result: Result, wanted: int | None) -> int:
    if not result.seeds:
        raise ValueError("air: the result has no finished run")
    if wanted is not None and checked.whole("seed", wanted, "a seed") not in result.seeds:
        raise ValueError(f"seed: {wanted} was not run; the result has {', '.join(map(str, result.seeds[:20]))}")
    return result.seeds[0] if wanted is None else wanted


def _widget(text: str, height: int) -> Any:
    """The widget, if anywidget is installed."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        return None

    class AirWidget(anywidget.AnyWidget):
        """The page as a widget; `window` has the start and end of the visible window, in seconds."""

        _esm = SCRIPT
        document = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int(HEIGHT).tag(sync=True)
        window = traitlets.List(traitlets.Float()).tag(sync=True)

        save = AirView.save

    return AirWidget(document=text, height=height)
