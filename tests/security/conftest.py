"""Two servers under attack, shared by the whole folder, on a study whose every text is hostile."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from crubric_core import Settings, Workspace, run_pipeline
from crubric_core.demo import simulate
from crubric_core.sharing import Choices, Published, SharedView, build_view, publish
from tests.security.servers import Server, Talk, editor_server, folder_hash, viewer_server

HOSTILE = (
    '<img src=x onerror="window.owned=1" data-owned>',
    "<script>window.owned=1</script><b data-owned>bold</b>",
    "[link](javascript:window.owned=1) ![](http://evil.example/x.png)",
    '=HYPERLINK("http://evil.example","click")',
    ":red[**loud**] $\\href{javascript:window.owned=1}{x}$ :material/home:",
    "</script><svg/onload=window.owned=1 data-owned>",
    "@SUM(1+1)*cmd|'/C calc'!A0",
    "\"><iframe src='http://evil.example' data-owned></iframe>",
)
CANARY = "canary-6f1d"


@dataclass(frozen=True)
class Study:
    """A workspace with a hostile dataset, and an open view of it."""

    folder: Path
    workspace: Path
    views: Path
    view: SharedView
    link: Published


def hostile(names: pd.Series, extra: str = "") -> dict[str, str]:
    """Each name with one of the hostile texts in its place, still separated."""
    known = sorted(names.dropna().unique())
    return {name: f"{HOSTILE[n % len(HOSTILE)]} {extra}{n}" for n, name in enumerate(known)}


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("attacked")
    made = simulate(seed=1, systems=8, queries=10, pool=(8, 10))
    renamed = {
        "system": hostile(made.labels["system"], CANARY),
        "judge": hostile(made.labels["judge"], CANARY),
        "query": hostile(made.queries["query"], CANARY),
        "rubric": hostile(made.rubrics["rubric"], CANARY),
    }
    workspace, name = folder / "study.duckdb", f"{HOSTILE[0]} {CANARY}"
    with Workspace(workspace) as opened:
        for kind, table in (("queries", made.queries), ("rubrics", made.rubrics), ("labels", made.labels)):
            frame = table.replace({k: v for k, v in renamed.items() if k in table})
            if kind == "rubrics":
                frame["text"] = [f"{HOSTILE[n % 8]} {CANARY}" for n in range(len(frame))]
            if kind == "queries":
                frame["domain"] = [HOSTILE[n % 3] for n in range(len(frame))]
                frame["text"] = [f"{HOSTILE[n % 8]} {CANARY}" for n in range(len(frame))]
            opened.ingest(frame.to_csv(index=False).encode(), name, kind, name=f"{HOSTILE[0]}.csv")
        result = run_pipeline(opened.dataset(name), Settings(tau_c=0.5, budget=30))
    choices = Choices(title=f"{HOSTILE[0]} {CANARY}", note="\n".join(HOSTILE), texts=True)
    view = build_view(result, choices)
    return Study(folder, workspace, folder / "views", view, publish(view, folder / "views"))


@pytest.fixture(scope="session")
def viewer(study: Study) -> Iterator[Server]:
    """A viewer behind a proxy that it trusts, so that every test comes from an address of its own."""
    log = study.folder.parent / "viewer.log"
    with viewer_server(study.views, log, FORWARDED_ALLOW_IPS="127.0.0.1,::1") as server:
        yield server


@pytest.fixture(scope="session")
def editor(study: Study) -> Iterator[Server]:
    """The dashboard on the hostile study; its views go elsewhere."""
    log = study.folder.parent / "editor.log"
    with editor_server(study.workspace, study.folder.parent / "drafts", log) as server:
        yield server


@pytest.fixture(scope="session")
def addresses() -> Iterator[str]:
    """Client addresses that nobody has used."""
    return (f"198.51.{n // 250}.{n % 250 + 1}" for n in itertools.count())


@pytest.fixture
def talk(viewer: Server, addresses: Iterator[str]) -> Callable[[], Talk]:
    """Opens a socket to the viewer from a new address."""
    return lambda: Talk(viewer, next(addresses))


@pytest.fixture
def unharmed(viewer: Server, study: Study) -> Iterator[None]:
    """After the test the viewer lives, nothing was written, and its log has no error."""
    before, said = folder_hash(study.views), len(viewer.log.read_text())
    yield
    assert viewer.lives()
    assert folder_hash(study.views) == before
    assert not (study.folder / "never.duckdb").exists()
    assert "Traceback" not in viewer.log.read_text()[said:]
