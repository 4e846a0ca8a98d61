"""aider: text alone. It commits what it edits, and exits with 0 whatever became of its work.

Its model's words are among its lines, so a line counts as a report only in aider's own form, and an
error only until an answer follows.
"""

import re

from msgspec import structs

from dos.agents import prompt as prompts
from dos.agents import stream
from dos.agents.adapter import AgentOutcome, Clocks, Ending, Launch, Settings, StreamState, Usage
from dos.agents.oneway import litellm_errors
from dos.agents.programs import catalog

name = catalog.AIDER.name
vendor = catalog.AIDER.vendor
program = catalog.AIDER.program
tested = catalog.AIDER.tested

_ARGUMENTS = (
    # Nothing asks, and nothing is written into the repository that is not the work.
    *("--yes-always", "--no-gitignore"),
    *("--chat-history-file", "/dev/null", "--input-history-file", "/dev/null"),
    *("--no-check-update", "--analytics-disable", "--no-show-release-notes"),
    *("--no-show-model-warnings", "--no-detect-urls", "--no-suggest-shell-commands"),
    *("--no-pretty", "--no-fancy-input", "--no-stream"),
    "--git-commit-verify",  # without it no hook of git sees its commits
    *("--message-file", "/dev/stdin"),
)
_COMMIT_PROMPT = (
    "Write the message of a git commit for the given changes: a subject of at most 72 characters in"
    " the imperative mood, an empty line, and as its last paragraph exactly this line:\n\n{trailer}"
    "\n\nReply with the message alone."
)
_COUNT = r"([\d.]+)(k?)"
_TOKENS = re.compile(
    rf"^Tokens: {_COUNT} sent(?:, {_COUNT} cache write)?(?:, {_COUNT} cache hit)?"
    rf", {_COUNT} received\.(?: Cost: \$([\d.]+) message)?"
)
_ERROR = re.compile(r"^litellm\.\w{3,60}(?:Error|Timeout)?: ")
_TOO_LONG = re.compile(r"^Model \S{1,200} has hit a token limit!$")
_RETRY = re.compile(r"^Retrying in (\d{1,6}(?:\.\d)?) seconds\.\.\.$")
_ACTIVITY = re.compile(r"^(?:Applied edit to |Commit [0-9a-f]{7,40} |Skipped edits to )")
_BEGAN = re.compile(r"^Aider v\d")
# What it says of itself before it asks its model.
_HEADER = re.compile(
    r"^(?:Aider v|(?:Main |Weak |Editor )?[Mm]odel: |Git repo: |Repo-map: |Added )"
)
_LONGEST_REPLY = 4 * stream.CLAIM_CHARACTERS
_ENVIRONMENT = {"COLUMNS": "1000"}  # it breaks its lines at the width of a terminal


def launch(prompt: str, settings: Settings) -> Launch:
    """`aider` with one message; the prompt is its standard input.

    A second model writes its commit messages, and sees nothing of the prompt: it is told the line
    that has to end them.
    """
    argv = [*(settings.command or (program,)), *_ARGUMENTS]
    trailer = prompts.trailer_in(prompt)
    if trailer:
        argv += ["--commit-prompt", _COMMIT_PROMPT.format(trailer=trailer)]
    if settings.model:
        argv += ["--model", settings.model]
    return Launch(argv=[*argv, *settings.arguments], stdin=prompt, environment=_ENVIRONMENT)


class State(StreamState, frozen=True, kw_only=True):
    """What aider has reported so far."""

    error: str = ""  # of its newest request, which was not answered
    too_long: str = ""  # the line by which it said that the work did not fit into the context
    reply: str = ""  # what its model says, until it is complete


def begin() -> State:
    """The state of a program that has printed nothing."""
    return State()


def on_line(state: State, line: str) -> State:
    """The state after one more line."""
    state = stream.next_line(state, line)
    tokens = _TOKENS.match(line)
    if tokens:
        claim = stream.truncated(state.reply) or state.claim
        state = structs.replace(state, waiting=None, error="", too_long="", claim=claim, reply="")
        return stream.add_usage(state, _usage(tokens))
    if _ERROR.match(line):
        return structs.replace(state, error=line.strip())
    if _TOO_LONG.match(line):
        return structs.replace(state, too_long=line.strip())
    retry = _RETRY.match(line)
    if retry and state.error:
        waiting = litellm_errors.classify_retry(state.error, float(retry[1]))
        return stream.with_waiting(state, waiting)
    if _HEADER.match(line):
        began = state.began or _BEGAN.match(line) is not None
        return structs.replace(state, began=began, reply="")
    if _ACTIVITY.match(line):
        return structs.replace(state, heard=stream.activity(line), reply="")
    reply = f"{state.reply}{line}\n"[-_LONGEST_REPLY:]
    return structs.replace(state, reply=reply, heard=stream.activity(line))


def _usage(tokens: re.Match[str]) -> Usage:
    """The usage of one message; what was cached is part of what was sent."""
    sent = _number(tokens[1], tokens[2])
    written = _number(tokens[3], tokens[4])
    cached = _number(tokens[5], tokens[6])
    cost_usd = None
    if tokens[9]:
        cost_usd = stream.as_amount(_decimal(tokens[9]))
    return Usage(
        input_tokens=max(0, sent - written - cached),
        cached_tokens=cached,
        cache_write_tokens=written,
        output_tokens=_number(tokens[7], tokens[8]),
        cost_usd=cost_usd,
    )


def _number(digits: str | None, thousands: str | None) -> int:
    """A count as aider writes it: 120, 1.2k, 12k."""
    if not digits:
        return 0
    number = _decimal(digits)
    if thousands:
        number *= 1000
    return stream.as_count(round(number))


def _decimal(digits: str) -> float:
    """A number with at most one point; 0 for anything else."""
    try:
        return float(digits[:30])
    except ValueError:
        return 0.0


def outcome(state: State, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
    """How it ended: by the error that was not answered, else by its exit code."""
    final = None
    if state.error:
        final = litellm_errors.classify(state.error, clocks.ended_at)
    elif state.too_long:
        found = stream.evidence("text", state.too_long)
        final = AgentOutcome(ending=Ending.CONTEXT, found=found)
    return stream.conclude(state, exit_code, clocks, final=final)
