"""Pages that the program wrote, within a page of others."""

from html import escape

__all__ = ["framed"]


def framed(page: str, title: str, height: int = 800) -> str:
    """A page in a frame, folded. The page is an attribute of the frame: it is kept with the notebook, and may fetch nothing and reach nothing around it."""
    return (
        f"<details><summary>{escape(title)}</summary>"
        f'<iframe title="{escape(title)}" sandbox="allow-scripts allow-downloads" loading="lazy" '
        f'style="width:100%;height:{height}px;border:1px solid #8888" srcdoc="{escape(page)}"></iframe></details>'
    )
