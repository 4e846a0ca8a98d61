"""What a fleet has to know of an agent program, and what the evidence of its runs answers.

Nothing here is declared: an answer follows from what was on the disk, what the model was told and
what the adapter read. A run that shows nothing leaves its question unknown.
"""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from dos.agents.adapter import Ending
from dos.conformance.hook_trial import OWN_FILES, REFUSED_FILES
from dos.conformance.hook_trial import Result as HookResult

DENIED = "Lane held belongs to somebody else."  # the sentence that the model has to be told
WORD = "heliotrope"  # of the first conversation, looked for in the one that continues it
MESSAGE = "Mind the kingfisher."  # handed over while it works
STATUSES = (429, 529)
_LIMITS = (Ending.TRANSIENT, Ending.OVERLOADED, Ending.USAGE_WINDOW)


class Question(StrEnum):
    """A question, as tables head its column."""

    ASKS = "asks before an edit"
    USAGE = "reports usage"
    LIMIT = "tells a limit (429)"
    OVERLOAD = "tells an overload (529)"
    RESUMES = "resumes"
    MESSAGES = "takes a message while it works"
    ENDS = "ends when its input ends"


class Verdict(StrEnum):
    """The answer in one word."""

    YES = "yes"
    PARTLY = "partly"
    NO = "no"
    UNKNOWN = "unknown"


class Answer(Struct, frozen=True, kw_only=True):
    """A measured answer, and what it rests on."""

    verdict: Verdict
    detail: str = ""

    @property
    def text(self) -> str:
        """The answer in one line."""
        return f"{self.verdict}: {self.detail}" if self.detail else str(self.verdict)


class WorkEvidence(Struct, frozen=True, kw_only=True):
    """What a program did when its model asked for two forbidden writes and two others."""

    asked: int  # requests that it made before a tool was used
    written: frozenset[str]
    calls: int  # results that the model was told
    told_why: int  # refusals whose sentence the model was told
    answered: int  # requests to the model that were answered with usage
    model_tokens: int  # that the model reported in them
    reported_tokens: int  # that the adapter read from the program
    reported_cost: bool
    ended_by_itself: bool  # after its work, once its input had ended
    did_end_work: bool  # its work came to an end within the limit
    why_not: str = ""  # where it did nothing: its last words


def unknown(why: str) -> Answer:
    """The answer of a run that showed nothing."""
    return Answer(verdict=Verdict.UNKNOWN, detail=why)


def asks(seen: WorkEvidence) -> Answer:
    """Whether a refusal kept the forbidden writes from happening."""
    landed = [path for path in REFUSED_FILES if path in seen.written]
    if not landed and seen.calls < len(OWN_FILES) and not seen.asked:
        return unknown(seen.why_not or "it made none of the calls")
    if not seen.asked:
        return Answer(verdict=Verdict.NO, detail="it wrote without a request")
    if len(landed) == len(REFUSED_FILES):
        return Answer(verdict=Verdict.NO, detail="it wrote although it was refused")
    if landed:
        what = "shell commands" if landed == [REFUSED_FILES[0]] else "its tool for files"
        return Answer(verdict=Verdict.PARTLY, detail=f"only for {what}")
    if not set(OWN_FILES) <= seen.written:
        return Answer(verdict=Verdict.PARTLY, detail="what was allowed was not written either")
    if seen.told_why < len(REFUSED_FILES):
        return Answer(verdict=Verdict.YES, detail="the model is not told the reason")
    return Answer(verdict=Verdict.YES, detail="and tells the model the reason")


def asks_by_hooks(result: HookResult, reason: str) -> Answer:
    """The same for a program that asks by its hooks."""
    match result:
        case HookResult.WORKS:
            return Answer(verdict=Verdict.YES, detail="by hooks; and tells the model the reason")
        case HookResult.INERT:
            return Answer(verdict=Verdict.NO, detail=reason)
        case HookResult.FAILED | HookResult.NOT_FOUND | HookResult.NOT_TRIED:
            return unknown(reason)


def usage(seen: WorkEvidence) -> Answer:
    """Whether the tokens that the model counted are those that the program reports."""
    if not seen.answered:
        return unknown(seen.why_not or "it asked the model nothing")
    if not seen.reported_tokens:
        return Answer(verdict=Verdict.NO)
    if seen.reported_tokens < seen.model_tokens:
        share = f"{seen.reported_tokens} of {seen.model_tokens} tokens"
        return Answer(verdict=Verdict.PARTLY, detail=share)
    return Answer(verdict=Verdict.YES, detail="tokens and cost" if seen.reported_cost else "tokens")


def ends(seen: WorkEvidence) -> Answer:
    """Whether it exits by itself when its work is done and its input has ended."""
    if not seen.did_end_work:
        return unknown(seen.why_not or "its work did not end")
    if seen.ended_by_itself:
        return Answer(verdict=Verdict.YES)
    return Answer(verdict=Verdict.NO, detail="it had to be killed")


class LimitEvidence(Struct, frozen=True, kw_only=True):
    """What a program showed while its provider refused every request."""

    requests: int  # that the model refused
    waiting: Ending | None = None  # what the adapter read that it waits for, while it ran
    ending: Ending  # what the adapter read from its end
    was_ended: bool = False  # it had not ended by itself when its time was over
    seconds: float = 0.0


def limit(seen: LimitEvidence) -> Answer:
    """Whether dos learns that the provider refuses: at once, or from how the program ends.

    Some write what happened only when they are stopped, which a worker does after a long silence.
    """
    if not seen.requests:
        return unknown("it asked the model nothing")
    if seen.waiting in _LIMITS:
        return Answer(verdict=Verdict.YES, detail="while it tries again")
    if seen.ending in _LIMITS and seen.was_ended:
        silence = f"it says nothing until it is stopped, here after {seen.seconds:.0f} s"
        return Answer(verdict=Verdict.PARTLY, detail=silence)
    if seen.ending in _LIMITS:
        return Answer(verdict=Verdict.YES, detail="when it ends")
    if seen.was_ended:
        return Answer(verdict=Verdict.NO, detail=f"silent for {seen.seconds:.0f} s")
    return Answer(verdict=Verdict.NO, detail=f"it ends as {seen.ending}")


def resumes(session: str, prompts: Sequence[str], second: str) -> Answer:
    """Whether a second start continued the first conversation.

    `prompts` is what the model was sent by the second start, which `second` has to be in.
    """
    if not any(second in text for text in prompts):
        return unknown("the second start asked the model nothing")
    if any(WORD in text for text in prompts):
        return Answer(verdict=Verdict.YES)
    if not session:
        return Answer(verdict=Verdict.NO, detail="it names no conversation")
    return Answer(verdict=Verdict.NO, detail="it began a new conversation")


class MessageEvidence(Struct, frozen=True, kw_only=True):
    """What became of a message that was handed over while a tool ran."""

    started: bool  # the tool ran
    was_taken: bool | None  # None: the adapter has no way to hand one over
    tool_ended: bool
    reached_model: bool


def messages(seen: MessageEvidence) -> Answer:
    """Whether the model got the message, and whether the work went on meanwhile."""
    if seen.was_taken is None:
        return Answer(verdict=Verdict.NO, detail="it takes its input at the start alone")
    if not seen.started:
        return unknown("its tool did not run")
    if not seen.reached_model:
        return Answer(verdict=Verdict.NO, detail="the model was never told")
    if seen.tool_ended:
        return Answer(verdict=Verdict.YES)
    return Answer(verdict=Verdict.PARTLY, detail="its work is interrupted for it")
