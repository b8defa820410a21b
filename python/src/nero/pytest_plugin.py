"""Audits in tests of pytest: the fixture nero_audit, reports by test, baselines, and a table at the end.

    def test_quarter_turns(nero_audit):
        nero_audit(model, images, "C4", equivariant=False)

A test fails as nero.assert_equivariant does, with the verdict, the worst case and the command that shows it again. Keywords that many tests share
stand in the marker `@pytest.mark.nero(group="C4", equivariant=False)` of a test, a class or a module (pytestmark).

`--nero-report DIR` keeps each audit, with its study, in a folder of DIR called like the test, and DIR/index.html lists them. Where the setting
nero_baselines names a folder, a test with a baseline in it fails where the model became worse than that, and not for what it was before;
`--nero-update` writes the baselines anew.
"""

import hashlib
import html
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Generator, Iterable, Iterator, List, Optional, Tuple

import pytest

if TYPE_CHECKING:  # every session of pytest loads this file, and few need NumPy
    from nero._audit import Audit

__all__ = ["Auditor", "nero_audit"]

#: What an audit of a test has to tell, under the names that it has in JUnit's files.
Row = Dict[str, str]

ROWS = pytest.StashKey[List[Row]]()
TABLE = pytest.StashKey[List[Tuple[str, Row]]]()

#: Keywords of an audit that are no part of its study.
OF_AUDIT = ("engine", "provider", "workers", "allow_program", "progress")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("nero", "audits of models")
    group.addoption("--nero-report", metavar="DIR", help="keep every audit in a folder of DIR called like its test, with DIR/index.html over all of them")
    group.addoption("--nero-update", action="store_true", help="write the baselines of the tests that run, into the folder that the setting nero_baselines names")
    parser.addini("nero_baselines", "folder of the baselines that audits in tests are held against, relative to the file of settings")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "nero(**keywords): keywords of the audits in this test, such as group and equivariant")
    config.stash[TABLE] = []
    if config.getoption("--nero-update") and not config.getini("nero_baselines"):
        raise pytest.UsageError("--nero-update: no folder of baselines is named; set nero_baselines in the file of settings, such as nero_baselines = audits")
    if (to := config.getoption("--nero-report")) and Path(to).exists() and not Path(to).is_dir():
        raise pytest.UsageError(f"--nero-report: {to} is no folder")


class Auditor:
    """Audits in the name of a test. Called like nero.audit; it raises EquivarianceError where the verdict is not good enough."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._node, self._config = request.node, request.config
        self._tmp: Path = request.getfixturevalue("tmp_path")
        self._n = 0

    def __call__(self, model: Any, data: Any, group: Any = None, *, fail_on: Optional[str] = None, **keywords: Any) -> "Audit":
        __tracebackhide__ = True
        from nero._errors import EquivarianceError, NeroError

        try:
            made, worse = self._audit(model, data, group, fail_on, keywords)
        except NeroError as e:  # a sentence, whose way through this package is nobody's business
            raise e.with_traceback(None)
        if worse:
            raise EquivarianceError("\n".join([*worse, str(made)]), made)
        if made.data["exit_code"] == 1 and not self._config.getoption("--nero-update"):
            raise EquivarianceError(str(made), made)
        return made

    def _audit(self, model: Any, data: Any, group: Any, fail_on: Optional[str], keywords: Dict[str, Any]) -> "Tuple[Audit, List[str]]":
        """The audit, and what is worse in it than in the baseline."""
        from nero._study import study

        asked = self._marked()
        asked.update(keywords)
        if group is not None:
            asked["group"] = group
        fail_on = fail_on or asked.pop("fail_on", None)
        how = {k: asked.pop(k) for k in OF_AUDIT if k in asked}
        how.setdefault("progress", False)
        name = self._name()
        s = study(model, data, asked.pop("group", None), out=asked.pop("out", None) or self._folder(name), **asked)
        before = self._baseline(name)
        held = before is not None and before.is_file() and not self._config.getoption("--nero-update")
        made = s.audit(baseline=before if held else None, fail_on=fail_on or ("nothing" if held else "attention"), **how)
        # The report that opens in a browser lies beside the JSON.
        (made.file.parent / "audit.html").write_text(made.to_html(), encoding="utf-8", newline="")
        self._node.stash.setdefault(ROWS, []).extend(_rows(made, name, self._kept()))
        if before is not None and self._config.getoption("--nero-update"):
            before.parent.mkdir(parents=True, exist_ok=True)
            part = before.with_name(f".part-{before.name}")
            shutil.copyfile(made.file, part)
            os.replace(part, before)
            return made, []
        worse = [f"  {f.message}" for m in made.models for f in m.findings if f.category == "regression"] if held else []
        return made, [f"worse than the baseline {before}", *worse] if worse else []

    def _marked(self) -> Dict[str, Any]:
        """The keywords of the markers; those of the test go before those of its class and module."""
        from nero._errors import NeroError

        asked: Dict[str, Any] = {}
        for mark in reversed(list(self._node.iter_markers("nero"))):
            if mark.args:
                raise NeroError(f"the marker nero takes keywords alone, such as group={mark.args[0]!r}")
            asked.update(mark.kwargs)
        return asked

    def _name(self) -> str:
        """The name of the next audit of this test, which is one for files too."""
        self._n += 1
        name = re.sub(r"[^\w.-]+", "_", self._node.nodeid).strip("_")
        if name != self._node.nodeid:  # others may be written alike
            name = f"{name[:100]}-{hashlib.sha256(self._node.nodeid.encode()).hexdigest()[:8]}"
        return name if self._n == 1 else f"{name}-{self._n}"

    def _kept(self) -> Optional[Path]:
        to = self._config.getoption("--nero-report")
        return Path(self._config.invocation_params.dir, to) if to else None

    def _folder(self, name: str) -> Path:
        """A folder for the study and the audit: of the report, else of those that pytest keeps for a while."""
        kept = self._kept()
        to = (kept or self._tmp) / name
        if (to / "study.yaml").is_file():  # of an earlier session
            shutil.rmtree(to)
        return to

    def _baseline(self, name: str) -> Optional[Path]:
        folder = self._config.getini("nero_baselines")
        if not folder:
            return None
        return Path(self._config.inipath.parent if self._config.inipath else self._config.rootpath, folder, f"{name}.json")


@pytest.fixture
def nero_audit(request: pytest.FixtureRequest) -> Auditor:
    """Audits a model as nero.audit does, and fails the test where the verdict is not good enough."""
    return Auditor(request)


def _rows(a: "Audit", name: str, kept: Optional[Path]) -> Iterator[Row]:
    """What the program said of each model of an audit."""
    for m in a.models:
        row = {"model": m.model, "verdict": m.verdict, "audit": name if kept else str(a.file.parent)}
        if m.errors:
            row.update(error=f"{m.errors[0].error:.3g}", limit=f"{m.limit:.3g}")
        if m.worst_cases:
            row.update(worst=str(m.worst_cases[0].where), replay=m.worst_cases[0].replay)
        yield row


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> "Generator[None, pytest.TestReport, pytest.TestReport]":
    report = yield
    if call.when == "call":
        rows = item.stash.get(ROWS, list[Row]())
        report.nero_audits = rows  # type: ignore[attr-defined]  # goes from the workers of xdist to who collects; the properties go to JUnit's file
        for n, row in enumerate(rows):
            item.user_properties += [(f"nero{n + 1 if n else ''}.{k}", v) for k, v in row.items()]
    return report


class Collector:
    """Collects what the tests' audits told, where the tests were started."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self._config.stash[TABLE].extend((report.nodeid, row) for row in getattr(report, "nero_audits", []))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        told = self._config.stash[TABLE]
        table = sorted(told, key=lambda t: t[0])
        if not table:
            return
        terminalreporter.section("nero")
        terminalreporter.write_line("verdict          error      limit      model")
        for test, row in table:
            cells = (row["verdict"], row.get("error", ""), row.get("limit", ""))
            terminalreporter.write_line(f"{cells[0]:<16} {cells[1]:<10} {cells[2]:<10} {row['model']}: {test}")
        if to := self._config.getoption("--nero-report"):
            folder = Path(self._config.invocation_params.dir, to)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "index.html").write_text(_index(table), encoding="utf-8")
            terminalreporter.write_line(f"reports: {folder / 'index.html'}")


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):  # a worker of xdist tells its reports to who started it
        session.config.pluginmanager.register(Collector(session.config), "nero-collector")


def _index(table: Iterable[Tuple[str, Row]]) -> str:
    """A page that lists the audits."""
    rows = "".join(
        f'<tr><td><a href="{html.escape(row["audit"])}/audit/audit.html">{html.escape(test)}</a><td>{html.escape(row["model"])}'
        f"<td>{html.escape(row['verdict'])}<td>{html.escape(row.get('error', ''))}<td>{html.escape(row.get('limit', ''))}"
        f"<td>{html.escape(row.get('worst', ''))}\n"
        for test, row in table
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Audits</title><meta name="color-scheme" content="light dark">'
        "<style>body{font:16px system-ui;margin:2rem}td,th{padding:.3rem .8rem;text-align:left;border-bottom:1px solid #8886}</style>"
        f"<h1>Audits</h1><table><tr><th>Test<th>Model<th>Verdict<th>Error<th>Limit<th>Worst case\n{rows}</table></html>\n"
    )
