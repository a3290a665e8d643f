"""Run in inspect-ai's own environment: the exported task in a folder, judged by mock models that follow met.json."""

import importlib.util
import json
import sys
from pathlib import Path

import tiktoken  # its tables come over the network, which tests do without


class _Words:
    def encode(self, text, **_):
        return text.split()


tiktoken.get_encoding = tiktoken.encoding_for_model = lambda *_, **__: _Words()

from inspect_ai import eval as run  # noqa: E402
from inspect_ai.model import ModelOutput, get_model  # noqa: E402

folder = Path(sys.argv[1])
met = json.loads((folder / "met.json").read_text())
rows = [json.loads(line) for line in (folder / "dataset.jsonl").read_text().splitlines()]
replies = [f"Because.\nLABEL: {met[rubric['id']]}" for row in rows for rubric in row["rubrics"]]
spec = importlib.util.spec_from_file_location("task", folder / "task.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)


def mock(name, texts):
    return get_model(name, custom_outputs=[ModelOutput.from_content(name, text) for text in texts])


log = run(
    module.new_system(),
    model=mock("mockllm/mine", ["An answer."] * len(rows)),
    model_roles={"grader": mock("mockllm/judge-a", replies)},
    log_dir=str(folder / "logs"),
    max_samples=1,
    display="none",
)[0]
print(log.status, log.location)
