"""Pages that the program wrote, within a page of others."""

from dataclasses import dataclass, field
from html import escape
from typing import Any, Dict

__all__ = ["Page", "framed"]


@dataclass(frozen=True)
class Page:
    """A page that a notebook shows in a frame: without a kernel, without a network, and in a saved notebook as well."""

    text: str = field(repr=False)
    title: str
    height: int
    #: What is shown where there are no frames.
    instead: str = field(repr=False)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, str]:
        return {"text/plain": self.instead, "text/html": framed(self.text, self.title, self.height, folded=False)}


def framed(page: str, title: str, height: int = 800, folded: bool = True) -> str:
    """A page in a frame, folded or open. The page is an attribute of the frame: it is kept with the notebook, and may fetch nothing and reach nothing around it."""
    frame = (
        f'<iframe title="{escape(title)}" sandbox="allow-scripts allow-downloads" loading="lazy" '
        f'style="width:100%;height:{height}px;border:1px solid #8888" srcdoc="{escape(page)}"></iframe>'
    )
    return f"<details><summary>{escape(title)}</summary>{frame}</details>" if folded else frame
