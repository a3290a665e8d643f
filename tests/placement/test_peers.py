"""Round trips with the tools themselves: inspect-ai on mock models, autorubric's serialiser, promptfoo on a script.

Each lives in an environment of its own in the folder CRUBRIC_PEERS (`make peers` fills .peers); where it is not there,
its test is skipped and says so.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from crubric_core.placement.formats import EXPORTS
from crubric_core.placement.new_labels import read_new_labels
from tests.placement.test_exports import MET, expected, met_by_token, small_bank

ROOT = Path(__file__).resolve().parents[2]
PEERS = Path(os.environ.get("CRUBRIC_PEERS", ROOT / ".peers"))
HERE = Path(__file__).with_name("peers")


def installed(*parts):
    """The program at this place of CRUBRIC_PEERS."""
    path = PEERS.joinpath(*parts)
    if not path.exists():
        pytest.skip(
            f"{parts[0]} is not installed at {path}: run `make peers`, or name its folder in CRUBRIC_PEERS"
        )
    return path


def run(*words, cwd, **environment):
    """The program's words; its own where it fails."""
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={**os.environ, "HOME": str(cwd), **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done.returncode, f"{done.stdout}\n{done.stderr}"


def exported(form, folder):
    """The bank and its files in a folder, with what the judge will say."""
    bank = small_bank()
    for name, content in EXPORTS[form](bank).items():
        (folder / name).write_bytes(content)
    (folder / "met.json").write_text(json.dumps(met_by_token(bank)))
    return bank


def assert_back(bank, source, judge):
    found = read_new_labels(bank, source)
    assert found.y.tolist() == [expected(bank)]
    assert found.judges == (judge,)
    assert found.given.tolist() == [len(MET)]
    assert not len(found.unused)


def test_inspect_runs_the_exported_task_and_its_log_comes_back(tmp_path):
    python = installed("inspect", "bin", "python")
    bank = exported("inspect", tmp_path)
    code, said = run(python, HERE / "judge_with_inspect.py", tmp_path, cwd=tmp_path)
    assert code == 0, said
    assert_back(bank, tmp_path / "logs", "mockllm/judge-a")


def test_autorubric_loads_the_exported_dataset_and_its_reports_come_back(tmp_path):
    python = installed("autorubric", "bin", "python")
    bank = exported("autorubric", tmp_path)
    code, said = run(python, HERE / "judge_with_autorubric.py", tmp_path, cwd=tmp_path)
    assert code == 0, said
    (tmp_path / "mine.jsonl").write_bytes((tmp_path / "items.jsonl").read_bytes())
    records = [json.loads(line) for line in (tmp_path / "mine.jsonl").read_text().splitlines()]
    named = "\n".join(json.dumps({**record, "system": "mine"}) for record in records)
    assert_back(bank, ("items.jsonl", named.encode()), "judge-a")


def test_promptfoo_runs_the_exported_tests_and_its_results_come_back(tmp_path):
    modules = installed("promptfoo", "node_modules")
    node = next(
        iter([*modules.glob("node-*/bin/node"), *map(Path, filter(None, [shutil.which("node")]))]), None
    )
    if node is None:
        pytest.skip("promptfoo needs Node.js 22 or newer")
    bank = exported("promptfoo", tmp_path)
    config = json.loads((tmp_path / "promptfooconfig.json").read_text())
    config |= {"providers": ["echo"], "defaultTest": {"options": {"provider": "file://grader.js"}}}
    (tmp_path / "promptfooconfig.json").write_text(json.dumps(config))
    shutil.copy(HERE / "grader.js", tmp_path)
    asked = zip(bank.queries["query"], bank.queries["text"], strict=True)
    questions = {query: text if isinstance(text, str) else query for query, text in asked}
    met = [
        {"text": row.text, "question": questions[row.query], "label": MET[row.rubric]}
        for row in bank.rubrics.itertuples()
    ]
    (tmp_path / "met.js").write_text(f"module.exports = {json.dumps(met)};")
    code, said = run(
        *(node, modules / "promptfoo" / "dist" / "src" / "entrypoint.js", "eval"),
        *("-c", "promptfooconfig.json", "-o", "results.json", "--no-cache", "--no-table"),
        cwd=tmp_path,
        PROMPTFOO_CONFIG_DIR=str(tmp_path / "home"),
        PROMPTFOO_DISABLE_TELEMETRY="1",
        PROMPTFOO_DISABLE_UPDATE="1",
    )
    assert code in (0, 100), said  # 100: some assertions fail, as they should
    assert_back(bank, tmp_path / "results.json", "file://grader.js")
