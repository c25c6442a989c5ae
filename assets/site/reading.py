"""What a built page holds: anchors, links, and text by headings. These give the link check and the search index."""

from __future__ import annotations

import json
from collections.abc import Set
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

HEADINGS = ("h1", "h2", "h3", "h4")
SILENT = ("script", "style", "figure", "svg", "nav", "header", "title")  # holds no prose
INLINE = ("a", "b", "code", "em", "i", "kbd", "small", "span", "strong", "sub", "sup")  # stand inside a sentence
LOADED = ("img", "script", "link", "iframe", "source", "image", "use")  # their addresses are fetched with the page


@dataclass
class Section:
    """A heading with the text up to the next one."""

    anchor: str
    heading: str = ""
    text: str = ""


@dataclass
class Page(HTMLParser):
    """A page that was read."""

    source: str
    anchors: set[str] = field(default_factory=set)
    links: list[tuple[str, str]] = field(default_factory=list)  # tag and address
    sections: list[Section] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._inside: list[str] = []  # the open silent elements and headings
        self.feed(self.source)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        about = dict(attributes)
        self.anchors |= {value for name in ("id", "name") if (value := about.get(name))}
        self.links += [(tag, value) for name in ("href", "src", "xlink:href") if (value := about.get(name))]
        if self.sections and tag not in INLINE:
            self.sections[-1].text += " "
        if tag in HEADINGS and not self._inside:
            self.sections.append(Section(about.get("id") or ""))
        if tag in (*HEADINGS, *SILENT) or about.get("class") == "anchor-link":
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._inside:
            del self._inside[len(self._inside) - 1 - self._inside[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        if not self.sections or (self._inside and self._inside[-1] not in HEADINGS):
            return
        if self._inside:
            self.sections[-1].heading += data
        else:
            self.sections[-1].text += data


def read_site(folder: Path) -> dict[str, Page]:
    """All pages of a folder by their names."""
    files = sorted(folder.rglob("*.html"))
    return {file.relative_to(folder).as_posix(): Page(file.read_text(encoding="utf-8")) for file in files}


def find_broken(folder: Path, pages: dict[str, Page], planned: Set[str] = frozenset()) -> list[str]:
    """Every link that leads nowhere, with its page; `planned` pages are not built yet."""
    said = []
    for name, page in pages.items():
        for tag, link in page.links:
            if fault := _fault(folder, pages, planned, name, tag, link):
                said.append(f"{name}: {link[:100]}: {fault}")
    return said


def _fault(folder: Path, pages: dict[str, Page], planned: Set[str], name: str, tag: str, link: str) -> str:
    """What is wrong with a link, "" if nothing is. No page is fetched; of other hosts only the form is checked."""
    parts = urlsplit(link)
    if parts.scheme == "data":
        return ""
    if parts.scheme or parts.netloc:
        if tag in LOADED:
            return "is loaded from another host"
        return "" if parts.scheme in ("http", "https") and "." in parts.netloc else "is no address"
    target = (folder / name).parent / unquote(parts.path) if parts.path else folder / name
    try:
        where = target.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return "leads out of the site"
    if where in planned and where not in pages:
        return ""
    if not target.is_file():
        return "there is no such file"
    if not parts.fragment or where not in pages or pages[where].anchors & {parts.fragment, unquote(parts.fragment)}:
        return ""
    return "the page has no such anchor"


def search_index(pages: dict[str, Page]) -> str:
    """The index of the search as a script: it can be loaded where a page comes from a file."""
    entries = [
        {"file": name, "page": page.sections[0].heading, **vars(section)}
        for name, page in pages.items()
        for section in page.sections
    ]
    entries = [{key: " ".join(text.split()) for key, text in entry.items()} for entry in entries]
    return f"window.siteIndex = {json.dumps(entries, separators=(',', ':'))};\n"
