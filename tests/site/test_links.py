"""The check of links within the built site finds what leads nowhere, and only that."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

CHECKS = Path(__file__).parents[2] / "doc" / "checks"


@pytest.fixture
def broken_links(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(CHECKS), *sys.path])
    return import_module("links").broken_links


@pytest.fixture
def site(tmp_path):
    (tmp_path / "api").mkdir()
    (tmp_path / "a b.css").touch()
    (tmp_path / "index.html").write_text(
        '<link href="a%20b.css"><h1 id="top"></h1><a href="#top"></a>'
        '<a href="api/one.html#x%C3%A9">'
        '</a><a href="https://skdp.example/none"></a><a href="mailto:someone"></a><a href=""></a>'
    )
    (tmp_path / "api" / "one.html").write_text(
        '<a href="../index.html#top"></a><p id="xé"></p><img src="../a%20b.css?v=1">',
        encoding="utf-8",
    )
    return tmp_path


def test_a_whole_site_has_no_broken_links(site, broken_links):
    broken, elsewhere = broken_links(site)
    assert broken == []
    assert set(elsewhere) == {"https://skdp.example/none", "mailto:someone"}


@pytest.mark.parametrize(
    "tag",
    [
        '<a href="two.html">',
        '<a href="#bottom">',
        '<a href="../index.html#bottom">',
        '<a href="..">',
        '<img src="one.png">',
        '<script src="one.js"></script>',
    ],
)
def test_a_link_that_leads_nowhere_is_found(site, broken_links, tag):
    with (site / "api" / "one.html").open("a", encoding="utf-8") as page:
        page.write(tag)
    ((page, link),) = broken_links(site)[0]
    assert page == Path("api/one.html")
    assert f'"{link}"' in tag
