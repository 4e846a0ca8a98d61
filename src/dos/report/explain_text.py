"""The text of `dos why`: how each iteration of a run was decided, then how the run stands.

Times are as people read them. Tokens of decisions and verdicts are shown in words.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from dos.loop import tokens
from dos.loop.decision import CAP
from dos.report import event_text
from dos.report.explain import DecisionStep, RunDeath, RunExplanation
from dos.text import one_line, plural
from dos.times import format_local_time

# What each counter counts in a row; a counter without words is shown by its name.
_IN_A_ROW = {
    "consecutive_unclear": "no clear result",
    "consecutive_dirty_zero": "nothing landed",
    "consecutive_overloaded": "provider overloaded",
    "consecutive_stale_stamp": "plan document out of date",
    "consecutive_unproductive_replan_drains": "no work left after a replan",
    "consecutive_unproductive_replan": "replan found nothing",
    "consecutive_adopt_wait": "waited for a child run",
    "consecutive_race": "unit taken by another worker",
    "consecutive_wait": "waited for a limit",
}
MOST_SHOWN = 20  # refused calls, or messages
_OUTCOME_LABELS = {"packet_judge": "its units:", "verdict": "gate:"}
_COMPLETION = {
    "COMPLETE": "every declared unit is verified",
    "INCOMPLETE": "not every declared unit is verified yet",
    "UNDERDECLARED": "every declared unit is done, and more work was needed",
}


def render(explanation: RunExplanation, now: datetime, *, is_whole: bool = True) -> str:
    """Return the explanation as text: a paragraph for each iteration, then how the run stands.

    Times are local; one of another day than `now` is shown with its date. `is_whole` is False
    where only some iterations of the run are to be shown.
    """
    run_id = explanation.run_id
    where = ""
    if explanation.lane:
        where = f" on lane {explanation.lane}"
    lines = [f"run {run_id}{where}, began {_local_time(explanation.begun, now)}"]
    if explanation.steps and explanation.steps[0].iteration > 1 and is_whole:
        first = explanation.steps[0].iteration
        lines += ["", f"Iterations before {first} were of the run on this lane that it continues"]
    for step in explanation.steps:
        lines += ["", *_step_lines(step, now)]
    for incident in explanation.incidents:
        lines += ["", one_line(f"incident: {incident}")]
    lines += _list("messages of people", explanation.messages)
    lines += _list("refused before it happened", explanation.refused)
    undecided = explanation.undecided
    if undecided:
        taken = f"taken {_local_time(undecided.since, now)}"
        progress = f"`dos timeline {run_id}` shows its progress"
        lines += ["", f"No decision yet on {undecided.unit}, {taken}; {progress}"]
    elif not explanation.steps and not explanation.death:
        lines += [
            "",
            f"The journal has no decision of this run; `dos timeline {run_id}` shows its events",
        ]
    stop = explanation.stop
    if stop:
        lines += ["", event_text.describe_stop(stop.stop_reason, stop.reason, stop.needs)]
        lines += [f"  {text}" for text in (stop.meaning, stop.fix) if text]
    elif explanation.death:
        lines += ["", _describe_death(explanation.death, now)]
    elif explanation.steps and not undecided:
        lines += ["", "The run has not stopped"]
    return "\n".join(lines)


def _list(title: str, texts: Sequence[str]) -> list[str]:
    """Return a paragraph with the newest texts, after how many earlier ones there are."""
    if not texts:
        return []
    lines = ["", title]
    earlier = len(texts) - MOST_SHOWN
    if earlier > 0:
        lines.append(f"  … {earlier} earlier")
    return [*lines, *(f"  {text}" for text in texts[-MOST_SHOWN:])]


def _describe_death(death: RunDeath, now: datetime) -> str:
    """Return when the run ended without a decision, what was in work, and who continued it."""
    what = "The run lost its lease"
    if death.is_reaped:
        what = "The worker died"
    unit = "between two units"
    if death.unit:
        unit = f"while {death.unit} was in work"
    line = f"{what} {unit}: {one_line(death.reason)} (found at {_local_time(death.at, now)})"
    if death.continued_by:
        return f"{line}; run {death.continued_by} continued it"
    if death.unit:
        return f"{line}; no run has taken it since"
    return line


def _step_lines(step: DecisionStep, now: datetime) -> list[str]:
    """Return the paragraph of one iteration, from how it ended to the rule that decided."""
    attempt = ""
    if step.attempt > 1:
        attempt = f", attempt {step.attempt}"
    lines = [f"iteration {step.iteration}{attempt}  {step.unit}".rstrip()]
    lines.append(f"  ended    {_describe_outcome(step.outcome, now)}")
    if step.missed:
        lines.append(f"  measured {step.missed}")
    lines.append(f"  evidence {_describe_evidence(step.evidence) or 'only how it ended'}")
    if step.counters:
        lines.append(f"  counters {_describe_counters(step.counters)}")
    decision = step.decision
    words = tokens.decision_words(
        decision["action"], decision["next_mode"], decision["stop_reason"]
    )
    lines.append(f"  decided  {words}: {decision['reason']}")
    lines.append(f"  by rule  {_describe_ladder(step.ladder)}")
    return list(map(one_line, lines))


def _describe_outcome(outcome: dict[str, Any], now: datetime) -> str:
    """Return how an iteration ended, how many units landed, and what else was recorded."""
    parts = [tokens.iteration_words(outcome["kind"])]
    landed = outcome.get("ship_count")
    if landed is not None:
        parts.append(f"measured: {landed} landed")
    for name, value in outcome.items():
        if name in ("kind", "ship_count", "measurement_expected"):
            continue
        if name == "packet_judge" and not landed and landed is not None:
            continue  # that nothing landed is said already
        if name.endswith("_at"):
            value = _local_time(value, now)
        label = _OUTCOME_LABELS.get(name, name.replace("_", " "))
        parts.append(f"{label} {_words(value)}")
    return ", ".join(parts)


def _describe_counters(counters: dict[str, Any]) -> str:
    """Return the counters in words: how often something happened in a row before this decision."""
    parts = []
    for name, value in counters.items():
        words = _IN_A_ROW.get(name)
        if words:
            parts.append(f"{words} {plural(value, 'time')} in a row")
        else:
            parts.append(f"{name.replace('_', ' ')} {_words(value)}")
    return ", ".join(parts)


def _words(value: Any) -> str:
    """Return a value as people read it: a released token in words, anything else as it is."""
    if isinstance(value, str):
        return tokens.words(value)
    return str(value)


def _local_time(stamp: str, now: datetime) -> str:
    """Return the local time of a stamp, with the date where that is not the date of `now`."""
    return format_local_time(datetime.fromisoformat(stamp), now, seconds=True)


def _describe_evidence(evidence: dict[str, Any]) -> str:
    """Return each verdict that the decision was given, with its reason."""
    parts = []
    for name, value in evidence.items():
        verdict = _describe_verdict(value)
        if name == "completion":
            parts.append(_COMPLETION.get(value.get("state") or value.get("verdict"), verdict))
        else:
            parts.append(f"{name.replace('_', ' ')}: {verdict}")
    return "; ".join(parts)


def _describe_verdict(value: Any) -> str:
    """Return a verdict of the evidence in a few words; a pick has `held` instead of a verdict."""
    if not isinstance(value, dict):
        return _words(value)
    answer = value.get("state") or value.get("verdict")
    why = value.get("reason")
    if not answer:
        answer = "held" if value.get("held") else "free"
    words = str(answer).lower().replace("_", " ")
    if why:
        return f"{words} ({why})"
    return words


def _describe_ladder(ladder: Sequence[str]) -> str:
    """Return the rule that decided, and how many before it did not apply.

    Where the loop continues, the iteration limit is checked last.
    """
    rules = [tokens.rule_words(rung) for rung in ladder]
    last = ""
    if len(ladder) > 1 and ladder[-1] == CAP:
        rules.pop()
        last = "; the iteration limit was checked last"
    *passed, deciding = rules
    if not passed:
        return deciding + last
    return f"{deciding} ({plural(len(passed), 'earlier rule')} did not apply){last}"
