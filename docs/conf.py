"""Settings of Sphinx; `python -m docs.build` builds the site."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from docs.docstrings import escape_docstring  # noqa: E402
from lakatos import __version__  # noqa: E402

project = "lakatos"
author = "The lakatos authors"
project_copyright = author
version = release = __version__
language = "en"
smartquotes = False  # x' is x prime

extensions = ["docs.mathml", "myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
default_role = "py:obj"  # single backticks: a link where there is something to link to, otherwise code
nitpicky = False

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["ref.python"]  # a name that several modules define links to the first of them

nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_param = False  # types are words here ("array of shape (m,)"), not names to link to
napoleon_use_rtype = False
napoleon_use_ivar = True

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "lakatos"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "lakatos"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
    "use_edit_page_button": False,
}
html_sidebars = {"index": []}


def setup(app):
    """Docstrings say formulas in Unicode, where bars and stars mean what they mean in mathematics."""
    app.connect("autodoc-process-docstring", escape_docstring, priority=400)
