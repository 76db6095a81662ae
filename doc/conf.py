"""Configuration of Sphinx.

The whole site, gallery included, is built with one command::

    python -m pip install ".[doc]" && python -m sphinx -W --keep-going -b html doc doc/_build/html

With ``-D plot_gallery=0`` the examples of the gallery aren't run. Building needs no network:
without one, examples on real tables take made-up twins and say so. The pages load nothing from
elsewhere.
"""

import json
import os
import sys
from pathlib import Path

import skdp

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "skdp"
author = "The skdp developers"
copyright = author
version = release = skdp.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_gallery.gen_gallery",
    "capabilities",
    "everything",
    "fold",
    "accessible",
    "mathml",
    "releases",
    "results",
    "wide",
]
exclude_patterns = ["_build", "auto_examples/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
# Single backticks are parameters and, with a full name, links.
default_role = "py:obj"
html_math_renderer = "mathml"

autosummary_generate = True
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

plot_formats = [("svg", 100)]
plot_html_show_formats = False
plot_html_show_source_link = False
plot_rcparams = {"figure.figsize": (7.2, 3.6), "font.size": 10, "svg.hashsalt": "skdp"}
plot_apply_rcparams = True

# The pages show what examples print, without bars of progress.
os.environ["TQDM_DISABLE"] = "1"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"[\\/]plot_",
    "within_subsection_order": "reading_order.ReadingOrder",
    "doc_module": ("skdp",),
    "backreferences_dir": "api/generated/examples",
    "download_all_examples": False,
    "show_memory": False,
    # Its page would load scripts from elsewhere.
    "write_computation_times": False,
    "show_signature": False,
    "remove_config_comments": True,
    # What a cell prints is output, not what its last line happens to return.
    "capture_repr": (),
    "thumbnail_size": (960, 640),
}

html_theme = "pydata_sphinx_theme"
html_title = "skdp"
html_static_path = ["_static"]
html_css_files = ["skdp.css", "gallery.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "skdp"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-field"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "show_toc_level": 2,
}
# Where versions of the site lie side by side, as /dev/ and /0.2/, one line for each in this list
# makes readers choose; it is a file of the site itself. A list of one offers no choice.
switcher = "_static/switcher.json"
if len(json.loads((HERE / switcher).read_text(encoding="utf-8"))) > 1:
    match = version if version.replace(".", "").isdigit() else "dev"
    html_theme_options["switcher"] = {"json_url": switcher, "version_match": match}
    html_theme_options["navbar_end"].insert(0, "version-switcher")
html_sidebars = {"index": [], "install": [], "quick_start": []}
