"""Sphinx's settings of the book: no notebook is run, and nothing comes from the network."""

import gc
import sys
from pathlib import Path

import minigrad

sys.path.insert(0, str(Path(__file__).parents[2]))
from _tools.book.package import public

gc.set_threshold(
    200_000, 20, 100
)  # what Sphinx makes it keeps: a quarter of the time was the search for garbage

project = "minigrad"
version = release = str(minigrad.__version__)
project_copyright = "the minigrad authors; lessons CC BY 4.0, code MIT"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "_tools.book.package",
]
exclude_patterns = ["minigrad", "extra"]
suppress_warnings = [
    "myst.xref_missing",  # a link to what the book doesn't have becomes words
    "config.cache",  # that "public" is a function
]
templates_path = [str(Path(__file__).with_name("templates"))]
autosummary_context = {"public": public}
nb_execution_mode = "off"
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "dollarmath", "fieldlist"]
# Parts of MathJax, staged with the pages: no menu, which would offer what the network has.
mathjax_path = "mathjax/startup.js"
mathjax3_config = {"loader": {"load": ["input/tex", "output/chtml", "a11y/assistive-mml"]}}
myst_heading_anchors = 4
add_module_names = False
default_role = "code"
autodoc_typehints = "none"  # the descriptions tell what is wanted
autodoc_preserve_defaults = True
napoleon_custom_sections = ["Shape"]
napoleon_use_ivar = True  # an attribute is described once
toc_object_entries = False  # the sidebar lists pages and sections; the search and the index, names
python_use_unqualified_type_names = True

# code is copied as it is typed: without prompts, and without what they answer
copybutton_selector = "div.highlight pre:not(.cell_output pre)"
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

html_theme = "sphinx_book_theme"
html_title = "minigrad"
html_static_path = ["static"]
html_css_files = ["book.css"]
html_js_files = ["book.js"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "home_page_in_toc": True,
    "show_toc_level": 2,
    "use_download_button": False,
    # the search stands in the sidebar
    "navbar_start": [],
    "navbar_center": [],
    "navbar_end": [],
    "navbar_persistent": [],
}
