"""Let judges label what has no label yet; every answer is written to the file before the next is awaited."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..endpoints.asking import Line, Patience, Reply, Usage, ask_all
from ..endpoints.endpoint import Question
from ..endpoints.watch import UNWATCHED, Watch
from ..errors import ExportError
from .calls import Call
from .judges_file import Judge
from .labels_file import LabelsFile
from .prompting import Verdict, read_verdicts

Verdicts = tuple[Verdict, ...]


@dataclass(frozen=True)
class JudgeRun:
    """The result of a set of calls; unanswered calls are made again by the same command.

    calls: number planned. known: answered before. answered: answered now. labels: lines written. unknown: lines of
    these without a verdict. failures: (call, reason). usage: judge → usage. stopped: judge → why it was given up.
    cancelled: whether the caller cancelled it.
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


class Judging:
    """Judges that write to one file; usage, pace and stopped judges persist from one ``ask`` to the next.

    failed: key of each call that was asked and not answered → the reason.
    """

    def __init__(
        self, judges: Iterable[Judge], file: LabelsFile, patience: Patience | None, watch: Watch
    ) -> None:
        self._file, self._watch = file, watch
        self._calls: dict[str, Call] = {}
        self._known = self._answered = self._labels = self._unknown = 0
        self.failed: dict[str, str] = {}
        self._lines = {judge.name: self._line(judge, patience or Patience()) for judge in judges}

    def _line(self, judge: Judge, patience: Patience) -> Line[Verdicts]:
        return Line(
            judge.endpoint,
            replace(patience, requests_per_minute=judge.requests_per_minute or patience.requests_per_minute),
            lambda key, content: read_verdicts(content, self._calls[key].rubrics),
            lambda key: (self._calls[key].system, self._calls[key].query),
        )

    def gone(self, call: Call) -> bool:
        """Whether the call will not be answered any more: it failed, or its judge stopped."""
        return call.key in self.failed or bool(self._lines[call.judge.name].stopped)

    def ask(self, calls: Sequence[Call]) -> None:
        """Make every call that the file does not answer; all judges in parallel, each at its own pace.

        Raises PlacementError before any call if the file has labels from different prompts.
        """
        wanted = {call.key: call for call in calls if self._file.missing(call)}
        self._known += len(calls) - len(wanted)
        self._calls |= wanted
        answered, failed, total = self._answered, len(self.failed), len(wanted)

        def collect(replies: list[tuple[Line[Verdicts], Reply[Verdicts]]]) -> None:
            for _, reply in replies:
                self._enter(reply)
            now, lost = self._answered - answered, len(self.failed) - failed
            note = f", {lost:,} failed" if lost else ""
            self._watch.report((now + lost) / total, f"Judged {now:,} of {total:,} calls{note}")

        questions: dict[str, dict[str, Question]] = {}
        for key, call in wanted.items():
            questions.setdefault(call.judge.name, {})[key] = call.question
        ask_all([(self._lines[name], own) for name, own in questions.items()], collect, self._watch)

    def _enter(self, reply: Reply[Verdicts]) -> None:
        if reply.found is None:
            self.failed[reply.key] = reply.reason or "it was not asked any more"
            return
        try:
            self._labels += self._file.add(self._calls[reply.key], reply.found, reply.answer_tokens)
        except ExportError as error:
            self.failed[reply.key] = str(error).rstrip(".")
            for line in self._lines.values():
                line.stop(self.failed[reply.key])
            return
        self._unknown += sum(verdict.label is None for verdict in reply.found)
        self._answered += 1

    @property
    def run(self) -> JudgeRun:
        """The result of all calls so far."""
        total = self._known + len(self._calls)
        return JudgeRun(
            calls=total,
            known=self._known,
            answered=self._answered,
            labels=self._labels,
            unknown=self._unknown,
            failures=tuple((self._calls[key], why) for key, why in sorted(self.failed.items())),
            usage={name: line.usage for name, line in self._lines.items()},
            stopped={name: line.stopped for name, line in self._lines.items() if line.stopped},
            cancelled=self._watch.stopped and self._known + self._answered + len(self.failed) < total,
        )


def run_calls(
    calls: Sequence[Call], file: LabelsFile, patience: Patience | None = None, watch: Watch = UNWATCHED
) -> JudgeRun:
    """Make every call that the file does not answer, once.

    Raises PlacementError before any call if the file has labels from different prompts.
    """
    judging = Judging(judges_of(calls), file, patience, watch)
    judging.ask(calls)
    return judging.run


def judges_of(calls: Sequence[Call]) -> list[Judge]:
    """The different judges of these calls."""
    return list({call.judge.name: call.judge for call in calls}.values())
