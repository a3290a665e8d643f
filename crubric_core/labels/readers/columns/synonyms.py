"""Other names of canonical columns: synonyms, and names that count only if no column has a better one."""

from __future__ import annotations

from collections.abc import Mapping

from ..word_lists import word_list

_SYNONYMS = {
    "system": "system_id model model_id model_name system_name sys response_model response_model_name policy_model "
    "candidate_model answer_model agent agent_id agent_name bot chatbot",
    "query": "query_id question question_id prompt_id task_id prompt",
    "rubric": "criterion_id rubric_id criterion_code rubric_code criterion criteria item item_id rubric_name "
    "criterion_name rubric_title criterion_title",
    "judge": "judge_id grader grader_id rater annotator evaluator judge_model annotator_id rater_id evaluator_id "
    "judge_name grader_model grader_name evaluation_model eval_model eval_model_name",
    "annotator": "annotator_id judge rater expert grader",
    "label": "score verdict rating grade judgment judgement value vote met criteria_met is_met passed pass "
    "satisfied outcome decision valid validity points_awarded points_earned",
    "run": "epoch trial attempt run_id repeat repetition replicate run_index draw attempt_id trial_id repeat_id "
    "attempt_index trial_index rep rep_id replicate_id repetition_id run_idx trial_idx attempt_idx repeat_idx "
    "repeat_index rep_idx rep_index replicate_idx repetition_idx",
    "reason": "explanation rationale justification reasoning comment judge_reason judge_explanation",
    "organisation": "organization org vendor developer provider company",
    "date": "release_date released released_at",
    "cost": "price cost_usd total_cost",
    "licence": "license",
    "pass_mark": "pass_at passing_score pass_threshold",
    "text": "description criterion_text rubric_text query_text prompt_text content",
    "scale_min": "min minimum min_score scale_minimum",
    "scale_max": "max maximum max_score scale_maximum points_possible max_points max_marks",
    "weight": "points importance",
    "dimension": "axis aspect category",
    "severity": "level_of_severity",
    "polarity": "sign direction",
    "tags": "tag",
    "domain": "topic subject category",
    "task_type": "type tasktype",
    "omega": "query_weight weight",
    "rank": "ranking position place",
    "score": "rating elo value",
    "p_evidence_reasoning": "p_evidence",
    "p_decision_support": "p_decision",
    "p_high_risk_constraint": "p_high_risk p_safety_critical",
    "p_creative_divergent": "p_creative p_divergent_creative",
}
SYNONYMS: Mapping[str, tuple[str, ...]] = {name: word_list(text) for name, text in _SYNONYMS.items()}


# names of the judged system: a column ``model`` beside it may be the judge
JUDGED = word_list(
    "target_model model_under_test system_under_test sut subject_model tested_model evaluated_model "
    "evaluated_system evaluatee"
)
# names of the system if no column has a better one: beside ``model``, such a column has details of it, or is the judge
INSTEAD_OF_SYSTEM = (
    *("llm", "llm_name", "llm_id", "llm_model", "language_model", "ai_model", "ai_system", *JUDGED),
    *word_list(
        "test_model source_model answering_model generator generator_name generator_model generation_model "
        "model_version model_variant "
        "model_checkpoint checkpoint engine deployment contestant competitor entrant dialogue_system "
        "dialog_system dialogue_model dialog_model dialogmodel sys_id sys_name blinded_system_id "
        "blinded_system blinded_model_id blinded_model anonymous_model"
    ),
)
# names of a label's rubric if no column has a better one; otherwise they describe the rubric or query
INSTEAD_OF_RUBRIC = word_list(
    "rubric_item rubric_item_id checklist_item checklist_item_id requirement aspect dimension dimension_name "
    "metric metric_name attribute quality evaluation_criterion evaluation_criteria eval_criterion "
    "eval_criteria rubric_criterion criteria_name criteria_id rubric_point requirement_id aspect_name "
    "aspect_id metric_id dimension_id check check_name check_id assertion assertion_id guideline guideline_id "
    "principle principle_id expectation trait facet subscale competency rubric_idx rubric_index criterion_idx "
    "criterion_index assessment_name annotation_name"
)
# names of the label of a system on a rubric if only one column has such a name; otherwise they are rubrics
INSTEAD_OF_LABEL = word_list(
    "result correct is_correct pass_fail passfail fulfilled is_fulfilled achieved compliant is_compliant "
    "is_satisfied criterion_met met_criteria is_present mark marks marks_awarded stars likert likert_score "
    "final_score numeric_score binary_score score_value rating_value label_value judgment_label "
    "judgement_label annotation_value quality_score rubric_score criterion_score"
)
ITEMS = ("item", "item_id")  # a rubric, or a query that is rated on several criteria
