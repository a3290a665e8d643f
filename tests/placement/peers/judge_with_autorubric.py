"""Run in autorubric's own environment: the exported dataset, loaded by it, and reports that it serialises itself."""

import json
import sys
from pathlib import Path

from autorubric import (
    CriterionVerdict,
    DataItem,
    EnsembleCriterionReport,
    EnsembleEvaluationReport,
    ItemResult,
    JudgeVote,
    RubricDataset,
)

folder = Path(sys.argv[1])
met = json.loads((folder / "met.json").read_text())
dataset = RubricDataset.from_file(folder / "autorubric.json")
with (folder / "items.jsonl").open("w") as out:
    for place, item in enumerate(dataset.items):
        reports = []
        for criterion in dataset.get_item_rubric(place).rubric:
            verdict = CriterionVerdict.MET if met[criterion.name] else CriterionVerdict.UNMET
            vote = JudgeVote(judge_id="judge-a", verdict=verdict, reason="so", weight=1.0)
            reports.append(
                EnsembleCriterionReport(
                    criterion=criterion, final_verdict=verdict, final_reason="so", agreement=1.0, votes=[vote]
                )
            )
        report = EnsembleEvaluationReport(
            score=0.5,
            raw_score=1.0,
            report=reports,
            judge_scores={"judge-a": 0.5},
            mean_agreement=1.0,
            cannot_assess_count=0,
        )
        answered = DataItem(submission="An answer.", description=item.description, prompt=item.prompt)
        result = ItemResult(item_idx=place, item=answered, report=report, duration_seconds=0.1, error=None)
        out.write(json.dumps(result.to_dict()) + "\n")
