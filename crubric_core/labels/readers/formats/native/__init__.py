"""The layouts of benchmarks and tools: one module for each, which recognises its records by their fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import (
    adk,
    agent_company,
    argilla,
    autorubric,
    azure,
    bedrock,
    checklists,
    doccano,
    gdpval,
    healthbench,
    hellobench,
    helm,
    infobench,
    inspect_log,
    judge_bench,
    judgmentbench,
    label_studio,
    langfuse,
    langsmith,
    lm_eval,
    mt_bench,
    openai_evals,
    paper_bench,
    potato,
    profbench,
    promptfoo,
    pytest_report,
    replies,
    research_rubrics,
    squality,
    summeval,
    swe_bench,
    wildbench,
)
from .base import NativeFormat

__all__ = ["NATIVE", "NativeFormat", "native_format_of"]

# The first format that fits is taken, so the more specific ones come first.
_MODULES = (
    healthbench,
    hellobench,
    wildbench,
    summeval,
    squality,
    infobench,
    profbench,
    gdpval,
    judge_bench,
    research_rubrics,
    judgmentbench,
    inspect_log,
    promptfoo,
    lm_eval,
    helm,
    mt_bench,
    openai_evals,
    adk,
    azure,
    bedrock,
    paper_bench,
    label_studio,
    doccano,
    potato,
    argilla,
    langfuse,
    langsmith,
    autorubric,
    swe_bench,
    agent_company,
    pytest_report,
    replies,
    checklists,
)
NATIVE: Mapping[str, NativeFormat] = {f.name: f for module in _MODULES for f in module.FORMATS}


def native_format_of(record: Any) -> NativeFormat | None:
    """The first format whose layout fits a record; None if no format does."""
    if not isinstance(record, dict):
        return None
    return next((found for found in NATIVE.values() if found.fits(record)), None)
