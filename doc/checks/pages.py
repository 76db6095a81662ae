"""Look at every page of the built site in Chromium: accessibility, width, and screenshots.

Each page is loaded as on a desk and as on a phone (390 pixels), in light and in dark. The exit
status is 1 where axe-core finds a serious or critical fault, or where a page must be scrolled
sideways::

    python -m pip install selenium && npm pack axe-core && tar xzf axe-core-*.tgz
    python doc/checks/pages.py doc/_build/html --axe package/axe.min.js --screenshots shots

Chromium and its driver must be installed (Debian: ``chromium``, ``chromium-driver``). A page takes
some seconds; while one works a few are enough: ``--only index.html 'api/generated/*Ridge*'``.
"""

import argparse
import base64
import shutil
from collections import defaultdict
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

SIZES = {"desk": (1280, 900), "phone": (390, 844)}
THEMES = ("light", "dark")
GRAVE = ("serious", "critical")
# Colours that are still changing have any contrast.
STILL = """
const style = document.createElement("style");
style.textContent = "* { transition: none !important; animation: none !important }";
document.head.append(style);
"""
# What is folded is checked, too.
FOLDS = """
document.querySelectorAll("details.fold").forEach(fold => { fold.open = arguments[0]; });
"""
AXE = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ["violations"]}).then(
    found => done(found.violations.map(fault => ({
        id: fault.id, impact: fault.impact, help: fault.help,
        nodes: fault.nodes.map(node => [
            node.html.slice(0, 160),
            [...node.any, ...node.all, ...node.none][0].message
        ])
    }))),
    error => done([{id: "axe failed", impact: "critical", help: String(error), nodes: []}]));
"""


def open_browser():
    """Start Chromium without a window and without connections of its own."""
    options = Options()
    for name in (
        "headless",
        "no-sandbox",
        "disable-gpu",
        "disable-quic",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        "hide-scrollbars",
    ):
        options.add_argument(f"--{name}")
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def resize(browser, size):
    """Lay the page out for a screen, which may be narrower than a window can be."""
    width, height = SIZES[size]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "phone"}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def look(browser, url, axe, picture):
    """Yield the faults of a page at each size and theme, and keep a picture of each."""
    for size in SIZES:
        resize(browser, size)
        browser.get(url)
        browser.execute_script(STILL)
        browser.execute_script(axe)
        for theme in THEMES:
            browser.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
            view = f"{size}, {theme}"
            browser.execute_script(FOLDS, True)
            for fault in browser.execute_async_script(AXE):
                yield view, fault
            browser.execute_script(FOLDS, False)
            if picture is not None:
                name = picture.with_name(f"{picture.name}-{size}-{theme}.png")
                shot = browser.execute_cdp_cmd(
                    "Page.captureScreenshot", {"captureBeyondViewport": True}
                )
                name.write_bytes(base64.b64decode(shot["data"]))
        browser.execute_script(FOLDS, True)
        wide = browser.execute_script("return document.documentElement.scrollWidth")
        if wide > SIZES[size][0]:
            fault = {"id": "width", "impact": "serious", "help": f"{wide} pixels wide", "nodes": []}
            yield size, fault


def main():
    """Print the faults by kind, with an example of each, and how many pages have them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the built site")
    parser.add_argument("--axe", type=Path, required=True, help="axe.min.js of axe-core")
    parser.add_argument("--screenshots", type=Path, help="where to keep pictures")
    parser.add_argument("--only", nargs="+", default=["**/*.html"], help="patterns of pages")
    options = parser.parse_args()
    folder, axe = options.folder.resolve(), options.axe.read_text(encoding="utf-8")
    if options.screenshots is not None:
        options.screenshots.mkdir(parents=True, exist_ok=True)
    pages = sorted({path for pattern in options.only for path in folder.glob(pattern)})
    pages = [path for path in pages if "_static" not in path.relative_to(folder).parts]
    found = defaultdict(list)
    with open_browser() as browser:
        browser.set_script_timeout(120)
        for path in pages:
            name = path.relative_to(folder).with_suffix("").as_posix()
            picture = options.screenshots and options.screenshots / name.replace("/", ".")
            for view, fault in look(browser, path.as_uri(), axe, picture):
                found[fault["impact"], fault["id"], fault["help"]].append((name, view, fault))
    for (impact, kind, text), seen in sorted(found.items()):
        names = sorted({name for name, _, _ in seen})
        print(f"{impact}: {kind}: {text}, on {len(names)} of {len(pages)} pages")
        examples = {tuple(node): (name, view) for name, view, f in seen for node in f["nodes"]}
        for (html, why), (name, view) in list(examples.items())[:8]:
            print(f"    {name} ({view}): {html}\n        {why}")
        if not examples:
            print("   ", *names)
    print(f"{len(pages)} pages, {len(SIZES) * len(THEMES)} views each")
    return int(any(impact in GRAVE for impact, _, _ in found))


if __name__ == "__main__":
    raise SystemExit(main())
