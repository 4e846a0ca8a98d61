"""How a program ended that speaks the protocol: by a stop reason, an error, or its silence."""

from datetime import datetime

from dos.agents import provider_errors, stream
from dos.agents.acp import protocol
from dos.agents.acp.updates import State
from dos.agents.adapter import AgentOutcome, Clocks, Ending
from dos.agents.programs import acp_programs
from dos.agents.stream import as_mapping, as_text, nested

_STOP_REASONS = {
    "max_tokens": Ending.CONTEXT,
    "max_turn_requests": Ending.TURN_CAP,
    "refusal": Ending.UNKNOWN,  # of the model
}
# Before these it has done nothing: an error means that it could not be started.
_STARTING = ("initialize", "session/new", "session/load")
_MODEL = ("session/set_config_option", "session/set_model")


def outcome(state: State, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
    """How it ended. What it waited for counts where it neither ended its turn nor failed.

    Some programs try again for hours after a limit and say nothing of it. One that was ended for
    its silence while only its model could have gone on met its provider, and is not hung.
    """
    pending = None
    if state.waiting is not None:
        pending = provider_errors.classify_failure(
            state.stuck, clocks.ended_at, otherwise=state.waiting.ending
        )
    elif clocks.silent and _awaits_model(state):
        found = stream.evidence("silence", "its model did not answer")
        pending = AgentOutcome(ending=Ending.TRANSIENT, found=found)
    final = _final(state, clocks.ended_at)
    return stream.conclude(state, exit_code, clocks, final=final, pending=pending)


def _awaits_model(state: State) -> bool:
    """Whether its turn goes on, and neither a tool nor an answer of ours is missing."""
    return "session/prompt" in state.sent.values() and not state.tools and not state.asked


def _final(state: State, now: datetime) -> AgentOutcome | None:
    """What it said itself of its end; None where it said nothing."""
    if state.error is not None:
        return _by_error(state, now)
    version = state.offers.get("protocolVersion")
    if state.offers and version != protocol.VERSION:
        found = stream.evidence("protocolVersion", version)
        return AgentOutcome(ending=Ending.LAUNCH_FAILED, found=found)
    if not state.over or not state.stop_reason:
        return None
    if state.stop_reason == "end_turn" and (state.is_failing or _says_it_failed(state)):
        # It ends its turn as if all were well; only its words say what happened.
        return provider_errors.classify_failure(state.message, now, otherwise=Ending.TRANSIENT)
    return _by_stop_reason(state)


def _says_it_failed(state: State) -> bool:
    """Whether its last message is the one by which a program of its kind reports a failure."""
    row = acp_programs.BY_NAME.get(state.row)
    if row is None or not row.failure_message:
        return False
    return state.message.startswith(row.failure_message)


def _by_stop_reason(state: State) -> AgentOutcome:
    """The outcome of the stop reason of its last turn."""
    found = stream.evidence("stopReason", state.stop_reason)
    if state.refusals:
        found = stream.evidence("permission_denials", state.refusals)
    if state.stop_reason == "end_turn":
        return AgentOutcome(ending=Ending.OK, found=found)
    if state.stop_reason == "cancelled" and state.refusals:
        return AgentOutcome(ending=Ending.PERMISSION, found=found)
    ending = _STOP_REASONS.get(state.stop_reason, Ending.UNKNOWN)
    return AgentOutcome(ending=ending, found=stream.evidence("stopReason", state.stop_reason))


def _by_error(state: State, now: datetime) -> AgentOutcome:
    """The outcome of a JSON-RPC error: typed where the program types it, else by its words."""
    error = as_mapping(state.error)
    if error.get("code") == protocol.AUTH_REQUIRED:
        return AgentOutcome(
            ending=Ending.AUTH, found=stream.evidence("error.code", protocol.AUTH_REQUIRED)
        )
    otherwise = Ending.UNKNOWN
    if state.failed in _STARTING:
        otherwise = Ending.LAUNCH_FAILED
    elif state.failed in _MODEL:
        otherwise = Ending.MODEL_UNAVAILABLE
    data = error.get("data")
    words = [as_text(error.get("message")), as_text(data)]
    words += [as_text(nested(as_mapping(data), key)) for key in ("message", "details", "error")]
    if not any(state.message in word for word in words):
        words.append(state.message)  # some write the reason into their last message
    return provider_errors.classify_failure(
        "\n".join(filter(None, words)),
        now,
        status=_status(as_mapping(data)) or _status(error),
        kinds=[as_text(nested(as_mapping(data), "errorKind"))],
        otherwise=otherwise,
    )


def _status(data: dict[str, object]) -> int | None:
    """The HTTP status in an error, where one of its fields has it."""
    for key in ("status", "statusCode", "code"):
        number = stream.as_number(data.get(key))
        if number is not None and 400 <= number <= 599:
            return int(number)
    return None
