"""What a tool is: its name, its arguments, what it changes, and the verb that answers it.

A tool is written out here and not made from its verb, because the first answer of a server must
not wait until the modules of all verbs are imported. A test holds the two together.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct, structs

from dos.errors import BadInput
from dos.mcp.outputs import output_schema
from dos.text import nearest_names, quote, suggest
from dos.verbs.args import LARGEST
from dos.verbs.invoke import check_encoding

Given = dict[str, Any]  # arguments by name
JSON_TYPES: dict[str, dict[str, Any]] = {
    "text": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "object": {"type": "object"},
    "texts": {"type": "array", "items": {"type": "string"}},
    "objects": {"type": "array", "items": {"type": "object"}},
}
PYTHON_TYPES: dict[str, type | tuple[type, ...]] = {
    "text": str,
    "integer": int,
    "number": (int, float),
    "flag": bool,
    "object": dict,
}
PART_TYPES: dict[str, type] = {"texts": str, "objects": dict}  # of the lists
WORDS = {
    "text": "text",
    "integer": "a whole number",
    "number": "a number",
    "flag": "true or false",
    "object": "an object",
    "texts": "a list of texts",
    "objects": "a list of objects",
}


class Effect(StrEnum):
    """What a call changes, from nothing on. Each may be switched off or needs a switch."""

    READ = "read"  # nothing
    CALLER = "caller"  # nothing; it answers about the process that asks
    RECORD = "record"  # leases and records of the caller's own work
    FLEET = "fleet"  # what the fleet does; only with --allow-fleet
    ANSWER = "answer"  # decisions of a person; only with --allow-answers


class Argument(Struct, frozen=True, kw_only=True):
    """One argument of a tool."""

    name: str
    kind: str = "text"
    about: str = ""
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    effect: Effect = Effect.READ  # of a call that gives it, where that is more than the tool's

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the values."""
        schema = dict(JSON_TYPES[self.kind])
        if self.about:
            schema["description"] = self.about
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.default is not None:
            schema["default"] = self.default
        return schema

    def check(self, value: Any) -> None:
        """Raise BadInput for a value of another type, for text that no verb can get, and for one
        that is none of the choices."""
        if not self._fits(value):
            raise BadInput(f"{self.name} must be {WORDS[self.kind]}")
        if isinstance(value, int | float) and not abs(value) < LARGEST:
            raise BadInput(f"{self.name} is out of range: {value}")
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                check_encoding(text)
        if self.choices and value not in self.choices:
            raise BadInput(
                f"{self.name} cannot be {quote(value)}",
                hint=f"Choose one of: {', '.join(self.choices)}.",
            )

    def is_blank(self, value: Any) -> bool:
        """Whether a value says as much as none. No objects are not: they are said to be none."""
        return value == "" or (value == [] and self.kind != "objects")

    def _fits(self, value: Any) -> bool:
        """Whether a value has the type of the argument; true and false are no numbers."""
        if isinstance(value, bool):
            return self.kind == "flag"
        if self.kind not in PART_TYPES:
            return isinstance(value, PYTHON_TYPES[self.kind])
        parts = PART_TYPES[self.kind]
        return isinstance(value, list) and all(isinstance(part, parts) for part in value)


# What it is stands once in the instructions of the server, and not in every tool.
WORKSPACE = Argument(name="workspace", default=".")


class Call(Struct, frozen=True):
    """A verb of the table, and its arguments."""

    verb: str
    arguments: Given


class Tool(Struct, frozen=True, kw_only=True):
    """One tool, and how it calls its verb."""

    name: str
    about: str
    verb: str
    arguments: tuple[Argument, ...] = ()
    effect: Effect = Effect.READ
    destructive: bool = False
    idempotent: bool = False
    waits: bool = False  # a call may take long on purpose: it has no deadline
    waiting_action: str = ""  # then only calls with this action do
    prepare: Callable[[Given], Call] | None = None  # default: the verb, with the same arguments
    shape: Callable[[Any, Given], Any] | None = None  # makes an object of the verb's data

    def listed(self) -> dict[str, Any]:
        """Return the tool as `tools/list` shows it."""
        arguments = [*self.arguments, WORKSPACE]
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {argument.name: argument.schema() for argument in arguments},
            "additionalProperties": False,
        }
        required = [argument.name for argument in arguments if argument.required]
        if required:
            schema["required"] = required
        reads = self.effect in (Effect.READ, Effect.CALLER)
        annotations: dict[str, Any] = {"readOnlyHint": reads, "openWorldHint": False}
        if not reads:
            annotations["destructiveHint"] = self.destructive
            annotations["idempotentHint"] = self.idempotent
        return {
            "name": self.name,
            "description": self.about,
            "inputSchema": schema,
            "outputSchema": output_schema(self.name),
            "annotations": annotations,
        }

    def narrowed(self, allows: Callable[[Effect], bool]) -> "Tool":
        """Return the tool without the arguments whose effect is not allowed."""
        kept = tuple(argument for argument in self.arguments if allows(argument.effect))
        if len(kept) == len(self.arguments):
            return self
        return structs.replace(self, arguments=kept)

    def check(self, given: Mapping[str, Any]) -> Given:
        """Return the arguments that were given, without null and without empty optional texts.

        Raises BadInput for an unknown name, a value of another type, and a missing argument.
        """
        known = {argument.name: argument for argument in (*self.arguments, WORKSPACE)}
        found: Given = {}
        for name, value in given.items():
            argument = known.get(name)
            if argument is None:
                raise self._unknown_argument(name, list(known))
            if value is None or (argument.is_blank(value) and not argument.required):
                continue
            argument.check(value)
            found[name] = value
        missing = [name for name in known if known[name].required and name not in found]
        if missing:
            raise BadInput(
                f"{self.name} needs {' and '.join(missing)}",
                hint=f"{missing[0]}: {known[missing[0]].about}",
            )
        return found

    def call(self, given: Given) -> Call:
        """Return the verb that answers these arguments, without the workspace."""
        own = {name: value for name, value in given.items() if name != WORKSPACE.name}
        if self.prepare is None:
            return Call(self.verb, own)
        return self.prepare(own)

    def is_long(self, given: Mapping[str, Any]) -> bool:
        """Whether a call with these arguments may take long on purpose."""
        return self.waits and self.waiting_action in ("", given.get("action"))

    def _unknown_argument(self, name: str, known: list[str]) -> BadInput:
        near = nearest_names(name, known, 1)
        suggestion = f"; {suggest(near[0])}" if near else ""
        return BadInput(
            f"{self.name} has no argument {quote(name)}{suggestion}",
            hint=f"Its arguments: {', '.join(known)}.",
        )
