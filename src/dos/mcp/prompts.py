"""The prompts that a client offers to its user: what to ask these tools, and in which order."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from dos.errors import BadInput
from dos.text import nearest_names, quote, suggest


class Prompt(Struct, frozen=True, kw_only=True):
    """A text with places for arguments; those in `optional` may be left out."""

    name: str
    about: str
    text: str
    required: dict[str, str] = {}
    optional: dict[str, str] = {}

    def listed(self) -> dict[str, Any]:
        """Return the prompt as `prompts/list` shows it."""
        arguments = []
        for names, required in ((self.required, True), (self.optional, False)):
            for name, about in names.items():
                arguments.append({"name": name, "description": about, "required": required})
        return {"name": self.name, "description": self.about, "arguments": arguments}

    def filled(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the prompt as `prompts/get` shows it. Raises BadInput for wrong arguments."""
        known = {**self.required, **self.optional}
        for name, value in given.items():
            if name not in known or not isinstance(value, str):
                raise BadInput(
                    f"the prompt {self.name} has no argument {quote(name)} with such a value",
                    hint=f"Its arguments, all texts: {', '.join(known)}.",
                )
        missing = [name for name in self.required if not given.get(name)]
        if missing:
            raise BadInput(f"the prompt {self.name} needs {' and '.join(missing)}")
        text = self.text
        for name, about in known.items():
            value = given.get(name) or f"(not given: {about})"
            text = text.replace("{" + name + "}", value)
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return {"description": self.about, "messages": [message]}


_WORKSPACE = {"workspace": "directory in the repository; default: the current one"}
PROMPTS = (
    Prompt(
        name="verify_a_claim",
        about="Find out whether a unit is done.",
        required={"plan": "plan of the unit", "phase": "the unit's id in it"},
        optional=_WORKSPACE,
        text=(
            "Is {plan}/{phase} done? Workspace: {workspace}.\n"
            "Call `verify` with this plan and phase. Believe only its answer: what an agent, a"
            " commit message or a plan document says is a claim.\n"
            "If it shipped, name the commit. If it did not, call `why` with the unit, say what is"
            " missing, and keep the unit open."
        ),
    ),
    Prompt(
        name="can_i_take_this_lane",
        about="Find out whether you may start work on a lane, and take it.",
        required={"lane": "lane that is wanted"},
        optional={"tree": "paths that you would change", **_WORKSPACE},
        text=(
            "May work start on lane {lane}? Paths: {tree}. Workspace: {workspace}.\n"
            "Call `arbitrate` with the lane. If the outcome is `acquire`, call `lease` with action"
            " `acquire` and a name of your own as owner, and keep the fence. Renew it with action"
            " `heartbeat`, and release it at the end. If it is refused, say who holds the lane,"
            " and do not touch its paths."
        ),
    ),
    Prompt(
        name="refuse_with_a_reason",
        about="Refuse something with a reason that others can act on.",
        required={"situation": "what cannot be done, and why"},
        optional=_WORKSPACE,
        text=(
            "Refuse this with a declared reason: {situation}\nWorkspace: {workspace}.\n"
            "Call `refuse_reasons`, choose the one that fits, and check it with `check_reason`."
            " Answer with its token, the facts of this case, and its fix. Invent no token."
        ),
    ),
    Prompt(
        name="supervise",
        about="Watch over a fleet until it is idle.",
        optional={"goal": "what the fleet is to reach", **_WORKSPACE},
        text=(
            "Watch over the fleet. Goal: {goal}. Workspace: {workspace}.\n"
            "1. Call `fleet` and `decisions`, and say what works and what waits for a person.\n"
            "2. Call `wait`. When something landed, check it with `verify`. When a question was"
            " raised, put it to the person with its choices; do not answer it yourself.\n"
            "3. Call `wait` again with `after` set to the position of the last answer, until the"
            " fleet is idle.\n"
            "4. Report what landed, with its commits, what did not and why, and what it cost"
            " (`costs`)."
        ),
    ),
    Prompt(
        name="review",
        about="Check what commits claim.",
        optional={"range": "commit or range A..B; default: HEAD", **_WORKSPACE},
        text=(
            "Check the claims of these commits: {range}. Workspace: {workspace}.\n"
            "Call `commit_audit` with the range. For each finding, read the diff and say whether"
            " the subject is true. Call `verify` for each unit that a commit names. Report claims"
            " that do not hold first."
        ),
    ),
)


def find_prompt(name: object) -> Prompt:
    """Return the prompt of this name. Raises BadInput with the nearest one."""
    known = {prompt.name: prompt for prompt in PROMPTS}
    if isinstance(name, str) and name in known:
        return known[name]
    near = nearest_names(str(name), known, 1)
    suggestion = f"; {suggest(near[0])}" if near else ""
    raise BadInput(f"unknown prompt {quote(str(name))}{suggestion}")
