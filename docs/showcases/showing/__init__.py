"""What the pages of this folder share: claims that intervals decide, pictures, and the report beside a page."""

from .claims import claim, each, estimated, per_seed
from .pictures import bars, lines, picture
from .reports import report

__all__ = ["bars", "claim", "each", "estimated", "lines", "per_seed", "picture", "report"]
