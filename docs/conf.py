"""The site of these pages, for `make docs`: Sphinx with furo. Nothing on it is fetched from another host."""

project = "CodeNib"
author = "CodeNib"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["results/**"]
myst_heading_anchors = 4  # the anchors that GitHub gives
myst_url_schemes = ("http", "https")
# Files outside of this folder are the repository's: a page names them, the site does not have them.
suppress_warnings = ["myst.xref_missing", "myst.header", "misc.highlighting_failure"]

default_role = "code"  # docstrings write `name`
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "separated"
autodoc_default_options = {"members": True, "undoc-members": False, "exclude-members": "__init__, __new__"}

html_theme = "furo"
html_title = "CodeNib"
html_static_path = ["terminal.svg"]
html_copy_source = False
html_show_sphinx = False
pygments_style = "friendly"
