"""What the tree says to those who read it elsewhere: the README's links as addresses, and those addresses in pyproject.toml."""

from __future__ import annotations

import re

# A file of the tree behind a link or a picture: no scheme, no place on the same page.
FILE = r"\((?!https?:|mailto:|#)([^)\s]+)\)"
PICTURE = re.compile(r"(!\[[^\[\]]*\])" + FILE)
# The text of a link may be a picture.
LINK = re.compile(r"(?<!!)(\[(?:[^\[\]]|\[[^\[\]]*\])*\])" + FILE)
FENCE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)


def readme(text: str, repository: str, tag: str) -> str:
    """The README with every link to a file of the tree leading to `repository` at `tag`; what is in fenced code stays."""

    def absolute(part: str) -> str:
        part = PICTURE.sub(rf"\1({repository}/raw/{tag}/\2)", part)
        return LINK.sub(rf"\1({repository}/blob/{tag}/\2)", part)

    return "".join(part if FENCE.fullmatch(part) else absolute(part) for part in FENCE.split(text))


def pyproject(text: str, repository: str, tag: str) -> str:
    """pyproject.toml with the addresses of the project."""
    addresses = {
        "Repository": repository,
        "Documentation": f"{repository}/blob/{tag}/docs/model/overview.md",
        "Changelog": f"{repository}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
    return text + "\n[project.urls]\n" + "".join(f'{name} = "{address}"\n' for name, address in addresses.items())
