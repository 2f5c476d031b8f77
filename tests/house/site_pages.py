"""What the tests of the site read: pages, their headings and links, and what a built page would load."""

from __future__ import annotations

import re
import runpy
from html.parser import HTMLParser
from urllib.parse import unquote

from places import ROOT

DOCS = ROOT / "docs"
MADE = ("api", "auto_gallery", "gallery")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
INCLUDE = re.compile(r"^```\{include\} (\S+)", re.MULTILINE)
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"}
RELATIONS = {"stylesheet", "icon", "shortcut", "preload", "prefetch", "preconnect", "dns-prefetch", "modulepreload"}
FROM_ELSEWHERE = re.compile(r"^(https?:)?//", re.IGNORECASE)
IN_STYLES = re.compile(r"(?:url\(\s*|@import\s+)[\"']?((?:https?:)?//[^\"')\s]+)", re.IGNORECASE)


def configuration():
    """docs/conf.py, run as Sphinx runs it; it needs no Sphinx."""
    return runpy.run_path(str(DOCS / "conf.py"))


def pages():
    """Every page that is written by hand."""
    return sorted(page for page in DOCS.rglob("*.md") if page.relative_to(DOCS).parts[0] not in MADE)


def links(text):
    """What the prose links to; code is no prose."""
    return LINK.findall(CODE.sub("", FENCE.sub("", text)))


def anchors(page, anchor):
    """The anchors of a page's headings, and of what it includes."""
    text = page.read_text()
    found = {anchor(heading) for heading in re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)}
    return found.union(*(anchors(page.parent / other, anchor) for other in INCLUDE.findall(text)))


class _Loads(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag in LOADED:
            self.found.append(attributes.get(LOADED[tag]) or "")
        elif tag == "link" and RELATIONS & set((attributes.get("rel") or "").lower().split()):
            self.found.append(attributes.get("href") or "")


def loaded_from_elsewhere(text, *, style=False):
    """Addresses that a browser would ask without being told to: scripts, styles, pictures, fonts."""
    if style:
        return IN_STYLES.findall(text)
    reader = _Loads()
    reader.feed(text)
    return [address for address in reader.found if FROM_ELSEWHERE.match(address)] + IN_STYLES.findall(text)


class _Pictures(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "img" and "sphx_glr_" in (attributes.get("src") or ""):
            self.found.append((attributes["src"], attributes.get("alt") or ""))


def pictures_of_gallery(page):
    """The pictures on a built page that scripts of the gallery drew, each with its words."""
    reader = _Pictures()
    reader.feed(page.read_text())
    return reader.found


class _Places(HTMLParser):
    def __init__(self):
        super().__init__()
        self.names, self.links = set(), []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.names.add(attributes.get("id"))
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])


def dead_links(html):
    """Links of built pages to files, or to places in pages, that are not there."""
    read = {}
    for page in html.rglob("*.html"):
        read[page.resolve()] = reader = _Places()
        reader.feed(page.read_text())
    found = []
    for page, reader in read.items():
        for link in reader.links:
            path, _, place = unquote(link).partition("#")
            target = (page.parent / path).resolve() if path else page
            if re.match(r"\w+:", link) or (target.exists() and (not place or place in read[target].names)):
                continue
            found.append(f"{page.name}: {link}")
    return found
