"""Judges label what is not labelled yet; every answer is in the file before the next is waited for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ..endpoints.asking import Line, Patience, Reply, Usage, ask_all
from ..endpoints.watch import UNWATCHED, Watch
from .calls import Call
from .judges_file import Judge
from .labels_file import LabelsFile
from .prompting import Verdict, read_verdicts

Verdicts = tuple[Verdict, ...]


@dataclass(frozen=True)
class JudgeRun:
    """What came of some calls; whatever is unanswered is asked again by the same command.

    calls: planned. known: answered before. answered: now. labels, unknown: lines written, and those without a verdict.
    failures: (call, reason). usage: what each judge took. stopped: why a judge was given up. cancelled: by the caller.
    """

    calls: int
    known: int
    answered: int
    labels: int
    unknown: int
    failures: tuple[tuple[Call, str], ...]
    usage: dict[str, Usage]
    stopped: dict[str, str]
    cancelled: bool

    @property
    def complete(self) -> bool:
        """Whether every call has its answer."""
        return self.known + self.answered == self.calls


@dataclass
class _Tally:
    labels: int = 0
    unknown: int = 0
    answered: int = 0
    failures: list[tuple[Call, str]] = field(default_factory=list)


def run_calls(
    calls: Sequence[Call], file: LabelsFile, patience: Patience | None = None, watch: Watch = UNWATCHED
) -> JudgeRun:
    """Make every call that the file does not answer; all judges at once, each at its own pace.

    Raises PlacementError where the file has labels that were asked otherwise, before anything is asked.
    """
    wanted = {call.key: call for call in calls if file.missing(call)}
    tally, total = _Tally(), len(wanted)

    def collect(replies: list[tuple[Line[Verdicts], Reply[Verdicts]]]) -> None:
        for _, reply in replies:
            call = wanted[reply.key]
            if reply.found is None:
                tally.failures.append((call, reply.reason or "it was not asked any more"))
                continue
            tally.labels += file.add(call, reply.found, reply.answer_tokens)
            tally.unknown += sum(verdict.label is None for verdict in reply.found)
            tally.answered += 1
        failed = f", {len(tally.failures):,} failed" if tally.failures else ""
        done = tally.answered + len(tally.failures)
        watch.report(done / total, f"Judged {tally.answered:,} of {total:,} calls{failed}")

    judges = {call.judge.name: call.judge for call in calls}
    lines = {name: _line(judge, wanted, patience or Patience()) for name, judge in judges.items()}
    ask_all([line for line in lines.values() if line.questions], collect, watch)
    return JudgeRun(
        calls=len(calls),
        known=len(calls) - total,
        answered=tally.answered,
        labels=tally.labels,
        unknown=tally.unknown,
        failures=tuple(sorted(tally.failures, key=lambda pair: pair[0].key)),
        usage={name: line.usage for name, line in lines.items()},
        stopped={name: line.stopped for name, line in lines.items() if line.stopped},
        cancelled=watch.stopped and tally.answered + len(tally.failures) < total,
    )


def _line(judge: Judge, wanted: dict[str, Call], patience: Patience) -> Line[Verdicts]:
    own = {key: call for key, call in wanted.items() if call.judge.name == judge.name}
    return Line(
        judge.endpoint,
        replace(patience, requests_per_minute=judge.requests_per_minute or patience.requests_per_minute),
        {key: call.question for key, call in own.items()},
        lambda key, content: read_verdicts(content, own[key].rubrics),
    )


def joined(runs: Sequence[JudgeRun]) -> JudgeRun:
    """Several runs one after the other as one."""
    usage: dict[str, Usage] = {}
    for run in runs:
        for name, took in run.usage.items():
            had = usage.get(name, Usage(0, 0, 0, took.cost * 0))
            usage[name] = Usage(
                had.requests + took.requests,
                had.prompt_tokens + took.prompt_tokens,
                had.completion_tokens + took.completion_tokens,
                had.cost + took.cost,
            )
    return JudgeRun(
        calls=sum(run.calls for run in runs),
        known=sum(run.known for run in runs),
        answered=sum(run.answered for run in runs),
        labels=sum(run.labels for run in runs),
        unknown=sum(run.unknown for run in runs),
        failures=tuple(pair for run in runs for pair in run.failures),
        usage=usage,
        stopped={name: why for run in runs for name, why in run.stopped.items()},
        cancelled=any(run.cancelled for run in runs),
    )
