"""Check every link within the built site, anchors too: ``python doc/checks/links.py HTML``.

Links to other sites are listed by ``--elsewhere``, and not followed: ``python -m sphinx -b
linkcheck doc OUT`` does that, where there is a network.
"""

import argparse
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINKS = {("a", "href"), ("link", "href"), ("img", "src"), ("script", "src"), ("source", "src")}


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Keep what the tag links to, and what it is called."""
        for name, value in attrs:
            if (tag, name) in LINKS and value:
                self.links.add(value)
            elif name == "id" or (tag, name) == ("a", "name"):
                self.anchors.add(value)


def broken_links(folder):
    """Return pairs of a page and a link that leads nowhere, and for each other site its pages."""
    paths = [path for path in folder.rglob("*.html") if path.parent.name != "_static"]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(paths)}
    broken, elsewhere = [], defaultdict(list)
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                elsewhere[link].append(path)
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = pages.get(target)
            if not target.is_file() or (
                parts.fragment and known and unquote(parts.fragment) not in known.anchors
            ):
                broken.append((path.relative_to(folder), link))
    return broken, elsewhere


def main():
    """Print what is broken; the exit status tells whether anything is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the built site")
    parser.add_argument("--elsewhere", action="store_true", help="list links to other sites")
    options = parser.parse_args()
    broken, elsewhere = broken_links(options.folder.resolve())
    if options.elsewhere:
        print(*sorted(elsewhere), sep="\n")
    for page, link in broken:
        print(f"{page}: {link} leads nowhere")
    return int(bool(broken))


if __name__ == "__main__":
    raise SystemExit(main())
