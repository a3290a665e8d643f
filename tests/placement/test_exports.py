"""A bank out to another tool and its labels back: by id, whatever the tool does with names and order."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from crubric_core.__main__ import main
from crubric_core.bank.identity import rubric_ids
from crubric_core.bank.item_spread import Spread
from crubric_core.errors import ExportError, PlacementError
from crubric_core.placement.bank_file import write_bank
from crubric_core.placement.bank_scale import BankScale, fixed_fit
from crubric_core.placement.formats import EXPORTS
from crubric_core.placement.new_labels import read_new_labels
from crubric_core.settings import Settings

SYSTEMS = ("s0", "s1", "s2")


def small_bank(graded=False, texts=True, points=-3.0):
    """Six rubrics of three queries, of which one has negative points; two have the same text on other queries."""
    query = ["q1", "q1", "q2", "q2", "q3", "q3"]
    text = ["Is it true?", "Harmful {{ x }}", "Is it true?", "Cites a source", "Short", "Kind"]
    name = ["q1#0", "q1#1", "q2#0", "q2#7", "tone", "kind"]
    high = [4, 1, 4, 1, 1, 1] if graded else [1] * 6
    low = [1 if top == 4 else 0 for top in high]
    rubrics = pd.DataFrame(
        {
            "id": rubric_ids(query, text if texts else [None] * 6, name),
            "order": [3, 1, 2, 6, 5, 4],
            "query": query,
            "rubric": name,
            "text": text if texts else [None] * 6,
            "scale_min": low,
            "scale_max": high,
            "pass_mark": [3 if top == 4 else 1 for top in high],
            "polarity": [1, -1, 1, 1, 1, 1],
            "points": [5.0, points, 2.0, np.nan, 1.0, 1.0],
            "dimension": ["accuracy", None, None, None, "style", "style"],
        }
    )
    asked = pd.DataFrame({"query": ["q1", "q2", "q3"], "text": ["One?", "Two?", None], "domain": None})
    a, b = np.linspace(0.8, 1.6, 6), np.linspace(-1, 1, 6)
    settings = Settings.preset("paper", quadrature="adaptive", replicates=20, tau_c=0.5, budget=6)
    return BankScale(
        name="study",
        fingerprint="f",
        settings=settings,
        judges=("j1",),
        systems=SYSTEMS,
        queries=asked,
        rubrics=rubrics,
        fit=fixed_fit(settings, a, b, np.zeros(6), None, np.full(6, 2)),
        y=np.array([[1, 1, 0, 0, 1, 0], [0, 1, 1, 0, 1, 1], [1, 0, 1, 1, 0, 1.0]]),
        spread=Spread(np.full(6, 0.2), np.full(6, 0.3), np.zeros(6)),
    )


MET = {"q1#0": 1, "q1#1": 1, "q2#0": 0, "q2#7": 1, "tone": 0, "kind": 1}


def expected(bank):
    """What MET comes to as pass or fail: the harmful one is met, which is bad."""
    return [
        float(MET[name] if polarity > 0 else 1 - MET[name])
        for name, polarity in zip(bank.rubrics["rubric"], bank.rubrics["polarity"], strict=True)
    ]


def met_by_token(bank):
    """Token → label of MET."""
    rows = bank.rubrics[["id", "rubric"]].itertuples(index=False)
    return {f"{key}@{bank.bank_id}": MET[name] for key, name in rows}


def as_healthbench(bank, content):
    """The exported examples as a graded run, the prompts and the rubrics of each in another order."""
    met, records = met_by_token(bank), []
    for line in content["healthbench.jsonl"].decode().splitlines()[::-1]:
        record = json.loads(line)
        items = [
            {**item, "criteria_met": bool(met[item["tags"][0]]), "explanation": "so"}
            for item in record.pop("rubrics")[::-1]
        ]
        records.append({**record, "rubric_items": items, "model": "mine", "completion": "answer"})
    return "\n".join(map(json.dumps, records)).encode(), "run.jsonl"


def as_autorubric(bank, content):
    """What ``ItemResult.to_dict`` writes of the exported items."""
    met, records = met_by_token(bank), []
    for place, item in enumerate(json.loads(content["autorubric.json"])["items"]):
        reports = [
            {"criterion": c, "verdict": "MET" if met[c["name"]] else "UNMET", "reason": "so"}
            for c in item["rubric"]
        ]
        records.append({"item_idx": place, "item": item, "report": {"report": reports}, "system": "mine"})
    return "\n".join(map(json.dumps, records)).encode(), "items.jsonl"


def as_promptfoo(bank, content):
    """What ``promptfoo eval -o`` writes of the exported tests."""
    met, results = met_by_token(bank), []
    for place, test in enumerate(json.loads(content["promptfooconfig.json"])["tests"]):
        parts = [
            {"pass": bool(met[a["metric"]]), "score": met[a["metric"]], "reason": "so", "assertion": a}
            for a in test["assert"]
        ]
        results.append(
            {
                "testIdx": place,
                "provider": {"id": "mine"},
                "vars": test["vars"],
                "response": {"output": "answer"},
                "success": False,
                "gradingResult": {"pass": False, "componentResults": parts},
            }
        )
    return json.dumps({"results": {"results": results}}).encode(), "results.json"


def as_inspect(bank, content):
    """A log of the exported task."""
    met, samples = met_by_token(bank), []
    for line in content["dataset.jsonl"].decode().splitlines():
        row = json.loads(line)
        labels = {r["id"]: {"label": met[r["id"]], "explanation": "so"} for r in row["rubrics"]}
        score = {"value": 0.5, "metadata": {"crubric": labels, "grader_model": "judge-a"}}
        samples.append({"id": row["id"], "epoch": 1, "input": row["input"], "scores": {"bank": score}})
    log = {"status": "success", "eval": {"model": "mine", "task": "new_system"}, "samples": samples}
    return json.dumps(log).encode(), "log.json"


def as_table(bank, content):
    """The form, filled in by a person in a spreadsheet, rows sorted by something else."""
    (form,) = content.values()
    table = pd.read_csv(pd.io.common.BytesIO(form), dtype=str, keep_default_na=False)
    met = met_by_token(bank)
    table = table.assign(system="mine", label=[str(met[token]) for token in table["rubric"]])
    return table.sort_values("text").to_csv(index=False).encode(), "form.csv"


BACK = {
    "healthbench": as_healthbench,
    "autorubric": as_autorubric,
    "promptfoo": as_promptfoo,
    "inspect": as_inspect,
    "csv": as_table,
}


@pytest.mark.parametrize("form", EXPORTS)
def test_labels_come_back_to_their_rubrics_by_id(form):
    bank = small_bank()
    content, name = BACK[form](bank, EXPORTS[form](bank))
    found = read_new_labels(bank, content, name=name)
    assert found.systems == ("mine",)
    assert found.y[0].tolist() == expected(bank)
    assert found.given.tolist() == [6]
    assert not len(found.unused)


@pytest.mark.parametrize("form", EXPORTS)
def test_labels_of_another_bank_are_refused_with_both_ids(form):
    bank, other = small_bank(), small_bank()
    other = BankScale(**{**vars(other), "rubrics": other.rubrics.assign(polarity=1)})
    content, name = BACK[form](other, EXPORTS[form](other))
    with pytest.raises(
        PlacementError, match=f"belong to the bank {other.bank_id}, and this is the bank {bank.bank_id}"
    ):
        read_new_labels(bank, content, name=name)


def test_graded_rubrics_go_to_tools_that_know_levels_alone():
    bank = small_bank(graded=True)
    for form in ("healthbench", "promptfoo"):
        with pytest.raises(
            ExportError, match=r"2 rubrics of the bank are graded .* export it as csv, autorubric or"
        ):
            EXPORTS[form](bank)
    items = json.loads(EXPORTS["autorubric"](bank)["autorubric.json"])["items"]
    choices = [[o["label"] for o in c["options"]] for i in items for c in i["rubric"] if "options" in c]
    assert choices == [["1", "2", "3", "4"]] * 2


def test_a_choice_among_options_counts_from_the_lowest_label():
    bank = small_bank(graded=True)
    items = json.loads(EXPORTS["autorubric"](bank)["autorubric.json"])["items"]
    records = [
        {
            "item_idx": n,
            "system": "mine",
            "report": {
                "report": [
                    {"criterion": c, "multi_choice_verdict": {"selected_index": 2}}
                    if c.get("options")
                    else {"criterion": c, "verdict": "UNMET"}
                    for c in item["rubric"]
                ]
            },
        }
        for n, item in enumerate(items)
    ]
    found = read_new_labels(bank, "\n".join(map(json.dumps, records)).encode(), name="items.jsonl")
    graded = (bank.rubrics["scale_max"] == 4).to_numpy()
    assert found.y[0][graded].tolist() == [1, 1], "the third of 1..4 is 3, the pass mark"


def test_a_list_by_position_is_refused_and_texts_are_enough():
    bank = small_bank()
    content, name = as_healthbench(bank, EXPORTS["healthbench"](bank))
    records = [json.loads(line) for line in content.decode().splitlines()]
    bare = [
        {
            "prompt_id": r["prompt_id"],
            "model": "mine",
            "criteria_met": [i["criteria_met"] for i in r["rubric_items"]],
        }
        for r in records
    ]
    with pytest.raises(PlacementError, match="known only by its position in a list"):
        read_new_labels(bank, "\n".join(map(json.dumps, bare)).encode(), name="run.jsonl")
    for record in records:
        for item in record["rubric_items"]:
            item["tags"] = []
    found = read_new_labels(bank, "\n".join(map(json.dumps, records)).encode(), name=name)
    assert found.y[0].tolist() == expected(bank)
    assert found.notes == ("Rubrics were known by text (6).",)


def test_a_table_with_texts_needs_no_names():
    bank = small_bank()
    rows = [
        f'mine,{query},x{n},"{text}",{MET[name]}'
        for n, (query, text, name) in enumerate(
            zip(bank.rubrics["query"], bank.rubrics["text"], bank.rubrics["rubric"], strict=True)
        )
    ]
    found = read_new_labels(bank, "\n".join(["system,query,rubric,text,label", *rows]).encode(), name="t.csv")
    assert found.y[0].tolist() == expected(bank)
    assert found.judges == ("judge",), "one judge without a name"


@pytest.mark.parametrize("form", EXPORTS)
def test_the_command_writes_the_files_of_the_export(form, tmp_path):
    bank = small_bank()
    write_bank(bank, tmp_path)
    code = main(["export-bank", str(tmp_path / "bank.json"), "--as", form, "--out", str(tmp_path / "out")])
    assert code == 0
    for name, content in EXPORTS[form](bank).items():
        assert (tmp_path / "out" / name).read_bytes() == content
