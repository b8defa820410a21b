"""Executes the gallery: gallery.py SCRIPTS FOLDER, two at a time, and keeps the notebooks and pages of HTML made of them."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbconvert import HTMLExporter

#: Seconds that a cell may take; whole pages take up to 60 on two quiet cores, and a busy machine gets more.
LIMIT = 600


def execute(script: Path, to: Path) -> str:
    """What is wrong with a page, or nothing."""
    begun = time.monotonic()
    notebook = jupytext.read(script)
    client = NotebookClient(notebook, timeout=LIMIT, kernel_name="python3", resources={"metadata": {"path": str(script.parent)}})
    wrong = ""
    try:
        client.execute()
    except CellExecutionError as e:
        wrong = f"{script}: a cell raised\n{e}"
    except (CellTimeoutError, DeadKernelError) as e:
        wrong = f"{script}: {type(e).__name__}: {e}"
    nbformat.write(notebook, to / f"{script.stem}.ipynb")
    html, _ = HTMLExporter(mathjax_url="", require_js_url="").from_notebook_node(notebook)
    (to / f"{script.stem}.html").write_text(html, encoding="utf-8")
    print(f"{script.stem:20} {time.monotonic() - begun:5.1f} s", flush=True)
    return wrong


def main() -> None:
    scripts, to = sorted(Path(sys.argv[1]).resolve().glob("*.py")), Path(sys.argv[2]).resolve()
    if not scripts:
        sys.exit(f"{sys.argv[1]} holds no script")
    to.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(2) as pool:
        wrong = [w for w in pool.map(lambda s: execute(s, to), scripts) if w]
    sys.exit("\n".join(wrong) or 0)


main()
