"""The Agent Client Protocol, version 1: a conversation with any program that speaks it.

A program is asked to initialize, to begin or load a session, and then to do the work of a prompt;
its turn ends with the answer to that. Before a tool call it asks for permission. The protocol has
no field for the reason of a refusal: a program whose turn a refusal ends is told by a new prompt.
"""

from collections.abc import Callable
from typing import Any

from msgspec import structs

from dos.agents import stream
from dos.agents.acp import endings, permission, protocol, updates
from dos.agents.acp.updates import State
from dos.agents.adapter import AgentOutcome, Clocks, Launch, Settings
from dos.agents.conversation import Asks, Turn
from dos.agents.programs import acp_programs
from dos.agents.programs.acp_programs import AcpProgram
from dos.agents.stream import as_list, as_mapping, as_text, nested
from dos.permission.ask import Allow, Deny

MOST_REMINDERS = 5  # a program that is refused more often has its answer
_REMINDER = (
    "A request of yours was refused, and nothing of it was done:\n\n{reasons}\n\n"
    "Go on with the work in a way that is allowed."
)


class AcpConversation:
    """One program of the table, or any other that speaks the protocol."""

    def __init__(self, row: AcpProgram) -> None:
        self.row = row
        self.name = row.name
        self.vendor = row.vendor
        self.program = row.program
        self.tested = row.tested

    def launch(self, prompt: str, settings: Settings) -> Launch:  # noqa: ARG002
        """The command of the row, or the configured one with the row's arguments."""
        argv = list(settings.command or self.row.command)
        needed = self.row.command[1:]
        if needed and needed[0] not in argv:
            # A path, or an interpreter and a path, in place of the program's name.
            argv += needed
        if settings.model and self.row.model_option:
            argv += [self.row.model_option, settings.model]
        return Launch(argv=[*argv, *settings.arguments], environment=self.row.environment)

    def open(self, prompt: str, settings: Settings) -> Turn:
        """Ask which protocol it speaks; everything else follows from its answer."""
        wanted_model = settings.model
        if self.row.model_option:
            wanted_model = ""  # its command line says it
        state = State(
            row=self.row.name,
            model=settings.model,
            prompt=prompt,
            directory=settings.directory,
            wanted_model=wanted_model,
            resumed=settings.resume,
        )
        return _send(state, "initialize", protocol.initialize)

    def converse(self, state: State, line: str) -> Turn:
        """The state after one more line: a message, or something that it wrote between them."""
        state = stream.next_line(state, line)
        message = stream.parse_record(line)
        if "jsonrpc" not in message:
            return Turn(state=updates.on_log(state, line))
        method = as_text(message.get("method"))
        if method and message.get("id") is not None:
            return self._on_request(state, method, message)
        if method == "session/update":
            return Turn(state=updates.on_update(state, as_mapping(message.get("params"))))
        if not method:
            return self._on_reply(state, message)
        return Turn(state=state)

    def _on_request(self, state: State, method: str, message: dict[str, Any]) -> Turn:
        """It asks for something: permission is judged, everything else is not offered."""
        request_id = message["id"]
        if not isinstance(request_id, int | str) or method != "session/request_permission":
            return Turn(state=state, replies=(protocol.refusal(request_id, method),))
        if state.cancelling or state.over:
            return Turn(state=state, replies=(protocol.result(request_id, permission.CANCELLED),))
        parameters = as_mapping(message.get("params"))
        call_id = as_text(nested(parameters, "toolCall", "toolCallId"))
        asks = permission.read_request(request_id, parameters, state.tools.get(call_id, {}))
        options = [as_mapping(option) for option in as_list(parameters.get("options"))]
        asked = {**state.asked, asks.id: {"id": request_id, "options": options}}
        heard = stream.activity("asks:", asks.tool, asks.command or " ".join(asks.paths))
        state = structs.replace(state, asked=asked, heard=heard, waiting=None, stuck="")
        return Turn(state=state, asks=(asks,))

    def answer(self, state: State, asked: Asks, answer: Allow | Deny) -> Turn:
        """Choose the option of its kind. What was refused, and why, is remembered."""
        request = state.asked.get(asked.id)
        if request is None:  # its turn was interrupted meanwhile
            return Turn(state=state)
        still = {key: value for key, value in state.asked.items() if key != asked.id}
        state = structs.replace(state, asked=still)
        if isinstance(answer, Deny):
            what = asked.command or " ".join(asked.paths) or asked.tool
            refused = (*state.refused, f"- {what}: {answer.sentence}")
            state = structs.replace(state, refused=refused, refusals=state.refusals + 1)
        outcome = permission.outcome(request["options"], answer)
        return Turn(state=state, replies=(protocol.result(request["id"], outcome),))

    def steer(self, state: State, message: str) -> Turn | None:
        """Hand it one more prompt. One that takes none during a turn is interrupted first."""
        if state.over or not state.session or "session/prompt" not in state.sent.values():
            return None
        if self.row.queues_prompts:
            return _prompt(state, message)
        queued = (*state.queued, message)
        if state.cancelling:
            return Turn(state=structs.replace(state, queued=queued))
        cancel = protocol.notification("session/cancel", {"sessionId": state.session})
        answers = [
            protocol.result(request["id"], permission.CANCELLED) for request in state.asked.values()
        ]
        state = structs.replace(state, queued=queued, cancelling=True, asked={})
        return Turn(state=state, replies=(cancel, *answers))

    def is_over(self, state: State) -> bool:
        """Whether its last turn has ended, or it cannot begin one."""
        return state.over

    def outcome(self, state: State, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
        """How it ended, by the end of its last turn, by an error, or by what it waited for."""
        return endings.outcome(state, exit_code, clocks)

    def _on_reply(self, state: State, message: dict[str, Any]) -> Turn:
        """It answers a request."""
        number = message.get("id")
        if isinstance(number, bool) or not isinstance(number, int) or number not in state.sent:
            return Turn(state=state)
        method = state.sent[number]
        sent = {key: value for key, value in state.sent.items() if key != number}
        state = structs.replace(state, sent=sent)
        if "error" in message:
            return self._on_error(state, method, as_mapping(message["error"]))
        result = as_mapping(message.get("result"))
        match method:
            case "initialize":
                return _initialized(state, result)
            case "authenticate":
                return _begin_session(state)
            case "session/new" | "session/load":
                return _session_begun(state, result)
            case "session/set_config_option" | "session/set_model":
                return _prompt(structs.replace(state, model=state.wanted_model), state.prompt)
            case "session/prompt":
                part = "session" if self.row.counts_session else str(number)
                return self._on_turn_end(updates.on_usage(state, result, part), result)
        return Turn(state=state)

    def _on_error(self, state: State, method: str, error: dict[str, Any]) -> Turn:
        """A request failed. A missing login is tried with a key, anything else ends it."""
        if error.get("code") == protocol.AUTH_REQUIRED and not state.logged_in:
            login = _key_login(state, self.row)
            if login:
                state = structs.replace(state, logged_in=True)
                return _send(
                    state,
                    "authenticate",
                    lambda number: protocol.request(number, "authenticate", {"methodId": login}),
                )
        state = structs.replace(state, error=error, failed=method, over=True, cancelling=False)
        return Turn(state=state)

    def _on_turn_end(self, state: State, result: dict[str, Any]) -> Turn:
        """Its turn is over. It gets another one where somebody has something to say."""
        reason = as_text(result.get("stopReason"))
        state = structs.replace(
            state, stop_reason=reason, cancelling=False, tools={}, waiting=None, stuck=""
        )
        refused = state.refused
        state = structs.replace(state, refused=())
        if "session/prompt" in state.sent.values():
            return Turn(state=state)
        if state.queued:
            message = "\n\n".join(state.queued)
            return _prompt(structs.replace(state, queued=()), message)
        may_remind = self.row.refusal_ends_turn and state.reminders < MOST_REMINDERS
        if refused and may_remind and reason in ("end_turn", "cancelled"):
            state = structs.replace(state, reminders=state.reminders + 1)
            return _prompt(state, _REMINDER.format(reasons="\n".join(refused)))
        return Turn(state=structs.replace(state, over=True))


def _send(state: State, method: str, write: Callable[[int], str]) -> Turn:
    """Send a request under the next number."""
    number = state.numbers + 1
    state = structs.replace(state, numbers=number, sent={**state.sent, number: method})
    return Turn(state=state, replies=(write(number),))


def _prompt(state: State, text: str) -> Turn:
    """Begin a turn."""
    session = state.session
    return _send(state, "session/prompt", lambda number: protocol.prompt(number, session, text))


def _initialized(state: State, offers: dict[str, Any]) -> Turn:
    """It answered which protocol it speaks: this one, or there is nothing to talk about."""
    state = structs.replace(state, offers=offers)
    if offers.get("protocolVersion") != protocol.VERSION:
        return Turn(state=structs.replace(state, over=True))
    return _begin_session(state)


def _begin_session(state: State) -> Turn:
    """Begin a conversation, or continue one where that is wanted and the program can."""
    directory = state.directory or "/"
    can_load = nested(state.offers, "agentCapabilities", "loadSession") is True
    if state.resumed and can_load:
        session = state.resumed
        return _send(
            state,
            "session/load",
            lambda number: protocol.load_session(number, directory, session),
        )
    return _send(state, "session/new", lambda number: protocol.new_session(number, directory))


def _session_begun(state: State, result: dict[str, Any]) -> Turn:
    """The conversation exists: choose its model, and give it the prompt.

    What was reported while an old conversation was loaded happened in an earlier start.
    """
    session = as_text(result.get("sessionId")) or state.resumed
    state = structs.replace(
        state, began=True, session=session, claim="", tools={}, counted={}, parts={}
    )
    options = [as_mapping(option) for option in as_list(result.get("configOptions"))]
    choice = next((option for option in options if option.get("category") == "model"), None)
    wanted = state.wanted_model
    if not wanted:
        current = as_text(choice.get("currentValue")) if choice else ""
        current = current or as_text(nested(result, "models", "currentModelId"))
        model = state.model or updates.model_name(current)
        return _prompt(structs.replace(state, model=model), state.prompt)
    if choice is None:
        method = "session/set_model"
        parameters: dict[str, Any] = {"sessionId": session, "modelId": wanted}
    else:
        method = "session/set_config_option"
        parameters = {"sessionId": session, "configId": choice.get("id"), "value": wanted}
    return _send(state, method, lambda number: protocol.request(number, method, parameters))


def _key_login(state: State, row: AcpProgram) -> str:
    """The way to log in that needs no person: by a key in the environment. "": there is none."""
    for offered in as_list(state.offers.get("authMethods")):
        method = as_mapping(offered)
        login = as_text(method.get("id"))
        if login in row.key_logins or "api-key" in as_mapping(method.get("_meta")):
            return login
    return ""


def of_any_program(name: str) -> AcpConversation:
    """The conversation with a program that is not in the table, under its name in dos.toml."""
    return AcpConversation(acp_programs.any_program(name))


CONVERSATIONS = {row.name: AcpConversation(row) for row in acp_programs.TESTED}
CONVERSATIONS[acp_programs.ANY] = of_any_program(acp_programs.ANY)
