"""The commands ``judge`` and ``judgements``: language models label new answers, and how many labels they need."""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from ..analysis.pipeline import run_pipeline
from ..endpoints.asking import Patience
from ..endpoints.watch import Watch
from ..environment import workspace_path
from ..errors import SettingsError
from ..judging.adaptive import BATCH, Stop, judge_until
from ..judging.answers_file import read_system_answers
from ..judging.calls import Call, Per, estimate, plan_calls
from ..judging.judges_file import read_judges
from ..judging.labels_file import LabelsFile
from ..judging.run import JudgeRun, run_calls
from ..judging.settling import Settled, settle
from ..judging.simulation import simulate_judging
from ..placement.bank_file import read_bank
from ..placement.bank_scale import BankScale
from ..placement.outlook import Outlook
from .options import existing
from .parsers import Commands, add_bank, add_command
from .terminal import print_json, progress_bar

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET = 0.15


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    judge = add_command(commands, "judge", run_judge)
    add_bank(judge)
    judge.add_argument(
        "--answers",
        required=True,
        type=Path,
        metavar="FILE",
        help="what the systems answered: system, query, text",
    )
    judge.add_argument("--judges", required=True, type=Path, metavar="FILE", help="judges.toml")
    judge.add_argument("--out", required=True, type=Path, metavar="FILE", help="JSON lines, appended to")
    judge.add_argument(
        "--runs", type=int, default=1, metavar="N", help="times each judge is asked (default: 1)"
    )
    judge.add_argument(
        "--per",
        choices=get_args(Per),
        default="criterion",
        help="a call a criterion, or one for all of a query's (default: criterion)",
    )
    judge.add_argument("--dry-run", action="store_true", help="say what it would take; ask nobody")
    judge.add_argument(
        "--until-se", type=float, metavar="S", help="most informative rubrics first, until SE is at most S"
    )
    judge.add_argument(
        "--until-tier",
        type=float,
        metavar="P",
        help="most informative rubrics first, until the tier stays what it is with probability P, such as .95",
    )
    judge.add_argument(
        "--batch",
        type=int,
        default=BATCH,
        metavar="N",
        help=f"rubrics at a time with --until-se and --until-tier (default: {BATCH})",
    )
    judge.add_argument(
        "--concurrency", type=int, default=4, help="requests at a time, each judge (default: 4)"
    )
    _add_source(judge, "to compare the price with all rubrics of the bank's study")

    simulate = add_command(commands, "judgements", run_judgements)
    add_bank(simulate)
    _add_source(simulate, "with all rubrics of the bank's study", needed=True)
    simulate.add_argument(
        "--tier",
        type=float,
        metavar="P",
        help="and until the tier stays what it is with probability P, among the bank's rubrics",
    )
    simulate.add_argument(
        "--se", type=float, default=TARGET, metavar="S", help=f"posterior sd to reach (default: {TARGET})"
    )


def _add_source(parser: argparse.ArgumentParser, why: str, *, needed: bool = False) -> None:
    parser.add_argument("--workspace", type=Path, default=workspace_path(), help=f"workspace file, {why}")
    parser.add_argument("--dataset", required=needed, help="the bank's study in that workspace")


def run_judge(args: argparse.Namespace) -> None:
    """Handle ``crubric judge``: print one JSON line on the calls, their labels, and their cost.

    The exit status is 1 if some calls have no answer, 130 if it was cancelled. ``--dry-run`` makes no call.
    """
    patience = Patience(concurrency=args.concurrency)
    bank_scale = read_bank(args.bank)
    answers = read_system_answers(bank_scale, args.answers)
    judges = read_judges(args.judges, keys=not args.dry_run)
    calls = plan_calls(bank_scale, answers, judges, args.runs, args.per)
    for note in answers.notes:
        print(f"note: {note}", file=sys.stderr)
    with LabelsFile(args.out, bank_scale.bank_id, write=not args.dry_run) as file:
        if file.repaired:
            print(
                f"note: the last line of {args.out} was incomplete: its request is asked again.",
                file=sys.stderr,
            )
        if args.dry_run:
            print_json(_dry(args, bank_scale, calls, file))
            return
        run, stops = _judge(args, bank_scale, calls, file, patience)
    print_json(_took(run) | ({"systems": [_stop(stop) for stop in stops]} if stops else {}))
    if run.cancelled:
        sys.stdout.flush()
        os._exit(130)  # an ordinary exit would wait for open requests; the file is complete
    if not run.complete:
        sys.exit(1)


def _judge(
    args: argparse.Namespace, bank_scale: BankScale, calls: list[Call], file: LabelsFile, patience: Patience
) -> tuple[JudgeRun, list[Stop]]:
    with progress_bar() as progress, _cancelled_by_interrupt() as cancel:
        watch = Watch(progress, cancel)
        if args.until_se is None and args.until_tier is None:
            return run_calls(calls, file, patience, watch), []
        return judge_until(
            bank_scale,
            calls,
            file,
            args.until_se,
            tier=args.until_tier,
            batch=args.batch,
            patience=patience,
            watch=watch,
        )


def _dry(
    args: argparse.Namespace, bank_scale: BankScale, calls: list[Call], file: LabelsFile
) -> dict[str, Any]:
    open_ = [call for call in calls if file.missing(call)]
    found: dict[str, Any] = {"to_ask": estimate(open_).record(), "bank": estimate(calls).record()}
    if args.dataset:
        with existing(args.workspace) as workspace:
            rubrics = len(workspace.dataset(args.dataset).rubrics)
        share = rubrics / len(bank_scale.rubrics)
        found["all_rubrics"] = {"rubrics": rubrics, **estimate(calls).scaled(share).record()}
    return found


def _took(run: JudgeRun) -> dict[str, Any]:
    return {
        "calls": run.calls,
        "answered_before": run.known,
        "answered": run.answered,
        "labels": run.labels,
        "cannot_assess": run.unknown,
        "failed": len(run.failures),
        "reason": run.failures[0][1] if run.failures else "",
        "cancelled": run.cancelled,
        "judges": {
            name: {
                "requests": took["requests"],
                "tokens_in": took["prompt_tokens"],
                "tokens_out": took["completion_tokens"],
                "cost": took["cost"],
                "stopped": run.stopped.get(name, ""),
            }
            for name, usage in run.usage.items()
            for took in [usage.record()]
        },
    }


def _stop(stop: Stop) -> dict[str, Any]:
    return {
        "system": stop.system,
        "rubrics": stop.rubrics,
        "judgements": stop.judgements,
        "theta": stop.theta if math.isfinite(stop.theta) else None,
        "se": stop.se if math.isfinite(stop.se) else None,
        "stopped_because": stop.reason,
        **({} if stop.outlook is None else _outlook(stop.outlook)),
    }


def _outlook(outlook: Outlook) -> dict[str, Any]:
    return {
        "tier": outlook.tier or None,
        "tier_stays": outlook.probability,
        "tier_once_all_is_judged": {str(tier): share for tier, share in outlook.shares.items()},
    }


@contextmanager
def _cancelled_by_interrupt() -> Iterator[threading.Event]:
    """Yield an event that Ctrl-C sets, so that a run stops and keeps its answers; only in the main thread."""
    cancel = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield cancel
        return
    before = signal.signal(signal.SIGINT, lambda *_: cancel.set())
    try:
        yield cancel
    finally:
        signal.signal(signal.SIGINT, before)


def run_judgements(args: argparse.Namespace) -> None:
    """Handle ``crubric judgements``: simulate judging with the labels of the bank's study, and print one JSON line.

    It has the judgements to a posterior sd of ``--se``, asked adaptively and in the bank's order, and the sd that all
    rubrics give. SettingsError if the dataset is not the bank's study.
    """
    if not args.se > 0:
        raise SettingsError(f"se = {args.se:g} cannot be reached: give a number above 0.")
    bank_scale = read_bank(args.bank)
    with existing(args.workspace) as workspace, progress_bar() as progress:
        dataset = workspace.dataset(args.dataset)
        if dataset.fingerprint != bank_scale.fingerprint:
            raise SettingsError(f"{args.dataset} is not the study that this bank was made from.")
        result = run_pipeline(dataset, bank_scale.settings, progress)
    passed = result.measurability["feasible"].to_numpy(dtype=bool)
    y = np.where(passed, result.reduction.y, np.nan)
    settled = None if args.tier is None else settle(bank_scale, args.tier)
    found = simulate_judging(result.calibration.fit, y, result.chosen, args.se)
    print_json(
        {
            "se": args.se,
            "systems": len(found.adaptive),
            "adaptive": _reached(found.adaptive),
            "fixed_bank": {"rubrics": len(result.chosen), **_reached(found.fixed)},
            "all_rubrics": {
                "rubrics": int(passed.sum()),
                "median_judgements": float(np.median(found.available)),
                "median_se": round(float(np.median(found.sd_all)), 4),
            },
            **({} if settled is None else {"tier": {"probability": args.tier, **_settled(settled)}}),
        }
    )


def _settled(found: Settled) -> dict[str, Any]:
    return {
        "settled_before_the_end": int(found.early.sum()),
        "median_judgements": float(np.median(found.judgements)),
        "of": float(np.median(found.available)),
        "another_tier_by_all": int((found.tier != found.tier_all).sum()),
    }


def _reached(judgements: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, Any]:
    """Summary of the judgements (M,) that each system needs, NaN if it never reaches the target.

    The median is over all systems, with NaN as infinity; it is None if it is infinite.
    """
    known = judgements[np.isfinite(judgements)]
    median = float(np.median(np.where(np.isfinite(judgements), judgements, np.inf)))
    return {
        "reached_by": len(known),
        "median_judgements": median if math.isfinite(median) else None,
        "least": int(known.min()) if len(known) else None,
        "most": int(known.max()) if len(known) else None,
    }
