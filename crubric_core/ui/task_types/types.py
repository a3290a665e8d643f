"""The types of queries, their scores under the rules, and the runs of the classifiers."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from ...access import require_editor
from ...analysis.ranking import score_rubrics
from ...declarations import choice_words
from ...endpoints.watch import Watch
from ...jobs.threads import ThreadJob, ThreadJobs
from ...scoring_rules import ScoringRules
from ...task_types.assignment import assign
from ...task_types.classify import Classified, classify
from ...task_types.endpoint import ClassifierEndpoint
from ...task_types.evaluation import ClassifierEvaluation, evaluate_classifier, held_out_queries
from ...task_types.offline import offline_classifier
from ...task_types.prompted import PromptedClassifier
from ...task_types.scoring import QueryExplanation, QueryScores, explain_query
from ...task_types.types import CREATIVE, DECISION, EVIDENCE, HIGH_RISK, SHARES, types_of_queries
from .. import loaders
from ..text import count, numeral

if TYPE_CHECKING:
    from ...types import BoolArray
    from ..loaders import Study

PLAIN, GIVEN = "pass or fail", "file"
NO_EFFECT = (
    "These rules use the dimension and severity of rubrics. No rubric has either, so they change no score."
)


def words(task_type: object) -> str:
    """The words for a task type, such as ``decision support``; for no type ``pass or fail``, as it is scored."""
    return choice_words(task_type) if isinstance(task_type, str) else PLAIN


def typed(study: Study) -> pd.DataFrame:
    """One row a query: query, text, p_<type>, certainty, scored_as, status, source.

    certainty: probability of the likeliest type, NaN if unknown. scored_as: the type in words.
    status: "", ``below τ_t`` (fallback) or ``no type``. source: edited, a classifier's name, ``file``, or missing.
    """
    queries = loaders.facts(study).queries
    shares = queries[SHARES].to_numpy(dtype=np.float64)
    types = types_of_queries(queries, study.settings.tau_t)
    likely = np.where(np.isfinite(shares), shares, -np.inf).max(axis=1)
    known = types.fallback | pd.notna(types.task_type)
    return queries[["query", "text", *SHARES]].assign(
        certainty=np.where(np.isfinite(likely), likely, np.nan),
        scored_as=[words(name) for name in types.task_type],
        status=np.select([types.fallback, ~known], ["below τ_t", "no type"], ""),
        source=queries["type_source"].fillna(pd.Series(GIVEN, queries.index).where(known)),
    )


def rules_can_act(study: Study) -> bool:
    """Whether any rubric has a dimension or a severity, given or assigned by the rules."""
    rubrics = assign(study.reduction().rubrics, study.settings.rules or ScoringRules())
    return bool(rubrics[["dimension", "severity"]].notna().any(axis=None))


def scores(study: Study) -> QueryScores:
    """Query scores on all rubrics that pass the gate and vary."""
    reduced, nu = study.reduction(), study.calibration().nu
    return score_rubrics(
        loaders.facts(study).queries, reduced, nu, np.flatnonzero(study.pool), study.settings
    )


def rules_table(found: QueryScores, rules: ScoringRules) -> pd.DataFrame:
    """One row per task type: task_type, rule, rubrics (number that it changes), queries (number scored this way)."""
    of_rubric = found.task_type[found.query_index].tolist()
    stressed = found.emphasis != 1
    punished: BoolArray = np.any(found.points < 0, axis=0)
    lines = [
        (EVIDENCE, "every rubric counts alike", None),
        (DECISION, f"rubrics on actionability count {rules.actionability:g}×", stressed),
        (
            HIGH_RISK,
            f"a failed rubric gives {numeral(rules.moderate, 'g')} if moderate, "
            f"{numeral(rules.critical, 'g')} if critical",
            punished,
        ),
        (CREATIVE, f"rubrics on creativity count {rules.creativity:g}×", stressed),
        (None, "below τ_t or without a type: every rubric counts alike", None),
    ]
    return pd.DataFrame(
        [
            (
                words(name),
                rule,
                np.nan if touched is None else sum(t == name for t in itertools.compress(of_rubric, touched)),
                int(sum(t == name for t in found.task_type)),
            )
            for name, rule, touched in lines
        ],
        columns=["task_type", "rule", "rubrics", "queries"],
    )


def instructive(found: QueryScores) -> list[int]:
    """Positions of the queries with a score, sorted by the number of rubrics that a rule changes, the most first."""
    changed = (found.emphasis != 1) | np.any(found.points < 0, axis=0)
    touched = np.bincount(found.query_index, weights=changed, minlength=found.by_query.shape[1])
    scored: BoolArray = np.any(np.isfinite(found.by_query), axis=0)
    return [int(n) for n in np.argsort(-touched, kind="stable") if scored[n]]


def example(
    study: Study, found: QueryScores, system: int, query: int
) -> tuple[QueryExplanation, pd.DataFrame]:
    """(explanation, table) of one system's score on one query; the table has a row per rubric that enters it."""
    explained = explain_query(found, system, query)
    frame = study.reduction().rubrics.iloc[np.flatnonzero(study.pool)[explained.rubrics]]
    table = frame[["rubric", "text", "dimension", "severity"]].assign(
        points=explained.points,
        emphasis=explained.emphasis,
        information=explained.weights / explained.emphasis,
        share=explained.weights / explained.weights.sum(),
        contribution=explained.contribution,
    )
    return explained, table.sort_values("share", ascending=False, kind="stable")


@st.cache_resource(show_spinner=False)
def offline_accuracy() -> ClassifierEvaluation:
    """The evaluation of the offline classifier on queries that were not used to build it."""
    texts, types = held_out_queries()
    return evaluate_classifier(offline_classifier().probabilities(texts), types)


@st.cache_resource(show_spinner=False)
def jobs() -> ThreadJobs[Classified]:
    """The latest run of the prompted classifier for each dataset, by its id, shared by all sessions."""
    return ThreadJobs()


def endpoint() -> ClassifierEndpoint | None:
    """The endpoint of the language model, from .streamlit/secrets.toml or the environment; None if not configured."""
    return ClassifierEndpoint.from_environment(
        st.secrets.to_dict() if st.secrets.load_if_toml_exists() else None
    )


def start(study: Study, queries: pd.DataFrame, typer: PromptedClassifier) -> None:
    """Classify these queries in the background, unless a run for this dataset is active.

    This session gets the run from ``ended`` when it is over.
    """
    require_editor("classify queries")
    dataset, workspace = study.dataset, loaders.workspace()

    def ask(watch: Watch) -> Classified:
        found = classify(workspace, dataset.id, queries, typer, watch)
        loaders.datasets_changed()
        return found

    st.session_state[_asked(study)] = jobs().start(
        dataset.id,
        ask,
        name=f"typing {dataset.name}",
        unexpected="The classifier failed; finished answers are kept. The details are in the log.",
    )


def ended(study: Study) -> ThreadJob[Classified] | None:
    """The run that this session started; returned once, None afterwards and if there was none."""
    found: ThreadJob[Classified] | None = st.session_state.pop(_asked(study), None)
    return found


def _asked(study: Study) -> str:
    return f"classifying {study.dataset.id}"


def outcome(job: ThreadJob[Classified]) -> tuple[str, bool]:
    """(sentences on the result and cost of a run, whether it was complete)."""
    if job.run is None or job.run.run is None:
        return job.failure, False
    saved, run = job.run.saved, job.run.run
    took = {name: "—" if n is None else f"{n:,}" for name, n in run.usage.record().items()}
    cost = f", cost {run.usage.cost:,.4f}" if np.isfinite(run.usage.cost) else ""
    parts = [
        f"Classified {count(saved, 'query')} ({run.cached:,} answered before); {took['requests']} "
        f"requests, {took['prompt_tokens']} tokens in, {took['completion_tokens']} out{cost}."
    ]
    if run.failures:
        parts.append(f"{count(len(run.failures), 'query')} failed: {run.failures[0][1]}.")
    parts += [run.stopped] if run.stopped else []
    parts += ["Stopped; ask again to go on."] if run.cancelled else []
    return " ".join(parts), not (run.failures or run.cancelled)
