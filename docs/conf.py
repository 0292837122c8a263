"""How `make docs` builds the site of this folder. Nothing is fetched: what a page needs is in the packages of python/requirements-docs.txt."""

import os
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
GALLERY = "gallery"
# Files that a showcase writes beside its page, such as the report of its runs; its links to them begin with this name.
REPORTS = f"{GALLERY}/reports"
sys.path[:0] = [str(HERE / "_ext"), str(HERE / "showcases")]
os.environ["LASTHOP_SHOWCASES"] = str(HERE / REPORTS)
# Usage lines and tables of commands do not depend on who builds, and where.
os.environ["COLUMNS"] = "110"

import lasthop

project = "lasthop"
release = version = lasthop.__version__
copyright = "the authors of lasthop, MIT licence"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_gallery.gen_gallery", "reference"]
# The gallery takes the place of showcases.md.
exclude_patterns = ["_ext", "showcases", "showcases.md"]
nitpicky = True
# Quotes are those of TOML and shells, to be copied.
smartquotes = False
default_role = "literal"

# Headings can be linked as on GitHub: page.md#a-heading.
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
# Types of other packages have their pages elsewhere, and these pages are built without a network.
nitpick_ignore_regex = [("py:.*", r"(?!lasthop\.[A-Z]).*")]

# A showcase is a script that is run, and its page. Its result is kept in `gallery`, with a digest of the script: one that has not
# changed is not run again.
sphinx_gallery_conf = {
    "examples_dirs": "showcases",
    "gallery_dirs": GALLERY,
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"(^|/)_|__init__",
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "default_thumb_file": str(HERE / "page" / "air.png"),
}

html_theme = "pydata_sphinx_theme"
html_title = "lasthop"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "lasthop"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


def setup(app):
    """Removes pages of showcases that are gone, and puts the files beside showcases into the site."""
    scripts = {script.stem for script in (HERE / "showcases").glob("*.py")}
    for page in (HERE / GALLERY).glob("*.rst"):
        if page.stem not in scripts | {"index"}:
            for file in (HERE / GALLERY).glob(f"{page.stem}.*"):
                file.unlink()

    def copy(app, error):
        if not error and (HERE / REPORTS).is_dir():
            shutil.copytree(HERE / REPORTS, Path(app.outdir) / REPORTS, dirs_exist_ok=True)

    app.connect("build-finished", copy)
