"""The gathering finds what pages link to, and the check finds what is wrong with a site."""

import tempfile
import unittest
from pathlib import Path

import pages


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.root = Path(made.name)

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


class Gather(Folder):
    def setUp(self) -> None:
        super().setUp()
        for name in pages.START:
            self.write(f"in/{name}", "nothing")

    def gathered(self) -> set[str]:
        to = self.root / "out"
        pages.gather(self.root / "in", to)
        return {p.relative_to(to).as_posix() for p in to.rglob("*") if p.is_file()}

    def test_follows_links(self) -> None:
        self.write("in/docs/A.md", 'see [b](../other/B.md#x), ![p](p.png), <img srcset="q.svg"> and `[no](C.md)`\n```\n[no](D.md)\n```\n')
        self.write("in/docs/p.png", "")
        self.write("in/docs/q.svg", "")
        self.write("in/other/B.md", "and [code](code/c.c), [web](https://example.org/x.md)")
        self.write("in/other/code/c.c", "")
        self.write("in/other/unlinked.md", "")
        self.assertEqual(
            self.gathered(), {*pages.START, "docs/A.md", "docs/p.png", "docs/q.svg", "other/B.md", "other/code/c.c"}
        )

    def test_scripts_of_the_gallery_are_pages(self) -> None:
        self.write("in/python/README.md", "[it](gallery/one.py)")
        self.write("in/python/gallery/one.py", "# ---\n# jupyter: x\n# ---\n\n# %% [markdown]\n# # Title\n#\n# Text.\n\n# %%\nx = 1  # so\n")
        self.assertIn("python/gallery/one.md", self.gathered())
        self.assertEqual((self.root / "out/python/README.md").read_text(), "[it](gallery/one.md)")
        self.assertEqual((self.root / "out/python/gallery/one.md").read_text(), "# Title\n\nText.\n\n```python\nx = 1  # so\n```\n")

    def test_names_what_is_missing(self) -> None:
        self.write("in/docs/A.md", "[b](B.md)")
        with self.assertRaisesRegex(SystemExit, "A.md links to B.md"):
            self.gathered()

    def test_refuses_folders(self) -> None:
        self.write("in/docs/A.md", "[b](../other)")
        self.write("in/other/B.md", "")
        with self.assertRaisesRegex(SystemExit, "other: a page links to a folder"):
            self.gathered()


class Check(Folder):
    def site(self, page: str) -> list[str]:
        self.write("index.html", '<h1 id="top">nero</h1>')
        self.write("docs/A.html", page)
        return pages.check(self.root)

    def test_passes_what_is_whole(self) -> None:
        self.write("docs/p.png", "")
        self.assertEqual(
            self.site('<a href="../index.html#top">x</a><img src="p.png"><a href="https://example.org">y</a>'), []
        )

    def test_finds_faults(self) -> None:
        for fault, said in {
            '<a href="B.html">x</a>': "B.html, which is not in the site",
            '<img src="q.png">': "q.png, which is not in the site",
            '<a href="../index.html#bottom">x</a>': "no such place",
            '<script src="https://example.org/x.js"></script>': "from elsewhere",
            '<link rel="stylesheet" href="//example.org/x.css">': "from elsewhere",
            '<a href="../../etc">x</a>': "not in the site",
        }.items():
            with self.subTest(fault):
                (found,) = self.site(fault)
                self.assertIn(said, found)


if __name__ == "__main__":
    unittest.main()
