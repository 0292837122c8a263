"""What the tree says to those who read it elsewhere: the README's links as addresses, and those addresses in pyproject.toml."""

from __future__ import annotations

import re

# A link or a picture to a file of the tree: no scheme, no place on the same page.
TO_A_FILE = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|mailto:|#)([^)\s]+)\)")
FENCE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)


def readme(text: str, repository: str, tag: str) -> str:
    """The README with every link to a file of the tree leading to `repository` at `tag`; what is in fenced code stays."""

    def absolute(link: re.Match[str]) -> str:
        picture, label, path = link.groups()
        return f"{picture}[{label}]({repository}/{'raw' if picture else 'blob'}/{tag}/{path})"

    parts = FENCE.split(text)
    return "".join(part if FENCE.fullmatch(part) else TO_A_FILE.sub(absolute, part) for part in parts)


def pyproject(text: str, repository: str, tag: str) -> str:
    """pyproject.toml with the addresses of the project."""
    addresses = {
        "Repository": repository,
        "Documentation": f"{repository}/blob/{tag}/docs/model/overview.md",
        "Changelog": f"{repository}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
    return text + "\n[project.urls]\n" + "".join(f'{name} = "{address}"\n' for name, address in addresses.items())
