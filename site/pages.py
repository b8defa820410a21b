"""Gathers the pages of the site, and looks at the site once it is built.

    python3 pages.py gather REPOSITORY FOLDER    copies README.md and all that its pages link to, and what those link to
    python3 pages.py check FOLDER                every link and picture of the built pages is there, and none is elsewhere
"""

import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

START = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "python/README.md")

GALLERY = Path("python/gallery")

# Links of Markdown, and pictures that stand in it as HTML.
LINK = re.compile(r'\]\(([^)\s]+)[^)]*\)|(?:src|srcset|href)="([^"]+)"')
CODE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)
SPAN = re.compile(r"`[^`\n]*`")


def linked(page: Path) -> list[str]:
    """The files that a page of Markdown names, relative to it."""
    text = SPAN.sub("", CODE.sub("", page.read_text(encoding="utf-8")))
    found = []
    for one, other in LINK.findall(text):
        at = urlsplit(one or other)
        if not at.scheme and not at.netloc and at.path:
            found.append(unquote(at.path))
    return found


def gather(repository: Path, to: Path) -> None:
    """Copies the pages and what they link to, in the folders in which they lie."""
    repository = repository.resolve()
    todo = [repository / "docs" / p.name for p in sorted((repository / "docs").glob("*.md"))]
    todo += [repository / name for name in START]
    seen: set[Path] = set()
    while todo:
        page = todo.pop()
        if page in seen:
            continue
        seen.add(page)
        if not page.is_relative_to(repository):
            sys.exit(f"{page} is outside of the repository")
        if page.is_dir():
            sys.exit(f"{page}: a page links to a folder, which a site cannot show: link to a file in it")
        copy = to / page.relative_to(repository)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, copy)
        if page.parent == repository / GALLERY:  # a link to a script is one to its page
            copy.with_suffix(".md").write_text(notebook(page.read_text(encoding="utf-8")), encoding="utf-8")
        if page.suffix != ".md":
            continue
        text = copy.read_text(encoding="utf-8")
        copy.write_text(re.sub(r"(\]\((?:[^)\s]*/)?gallery/\w+)\.py\)", r"\1.md)", text), encoding="utf-8")
        for name in linked(page):
            other = (page.parent / name).resolve()
            if not other.exists():
                sys.exit(f"{page.relative_to(repository)} links to {name}, which is not there")
            todo.append(other)


def notebook(script: str) -> str:
    """A percent script of jupytext as Markdown: its text, and its code in blocks. Text and links are those of the script."""
    parts = []
    for cell in re.split(r"^# %%", script, flags=re.M)[1:]:
        kind, _, body = cell.partition("\n")
        if "[markdown]" in kind:
            parts.append(re.sub(r"^# ?", "", body, flags=re.M).strip())
        elif body.strip():
            parts.append(f"```python\n{body.strip()}\n```")
    return "\n\n".join(parts) + "\n"


class Page(HTMLParser):
    """What a built page fetches, what it links to, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {k: v or "" for k, v in attrs}
        if "id" in has:
            self.anchors.add(has["id"])
        if tag == "a" and "href" in has:
            self.links.append(has["href"])
        elif tag == "link" and has.get("rel") not in ("canonical", "next", "prev"):
            self.fetched.append(has.get("href", ""))
        elif tag in ("script", "img", "source", "iframe"):
            self.fetched += [has[k].split(" ")[0] for k in ("src", "srcset") if has.get(k)]


def check(site: Path) -> list[str]:
    """What is wrong with the built pages."""
    site = site.resolve()
    pages = {p: Page(p.read_text(encoding="utf-8")) for p in site.rglob("*.html") if p.name != "404.html"}
    wrong = []
    for path, page in pages.items():
        where = path.relative_to(site)
        for address in page.fetched + page.links:
            at = urlsplit(address)
            if at.scheme == "data":
                continue
            if at.scheme or at.netloc:
                if address in page.fetched:
                    wrong.append(f"{where} fetches {address} from elsewhere")
                continue
            target = (path.parent / unquote(at.path)).resolve() if at.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_relative_to(site) or not target.exists():
                wrong.append(f"{where} points to {address}, which is not in the site")
            elif at.fragment and target in pages and unquote(at.fragment) not in pages[target].anchors | {"__top"}:
                wrong.append(f"{where} points to {address}, and that page has no such place")
    if not pages:
        wrong.append(f"{site} holds no page")
    return wrong


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "gather":
        gather(Path(sys.argv[2]), Path(sys.argv[3]))
    elif len(sys.argv) == 3 and sys.argv[1] == "check":
        bad = check(Path(sys.argv[2]))
        sys.exit("\n".join(bad) or 0)
    else:
        sys.exit(__doc__)
