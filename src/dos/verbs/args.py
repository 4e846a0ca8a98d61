"""A verb's arguments are a record; this turns the record's fields into a parser, only for the verb that was named."""

import argparse
import types
from typing import Any, NoReturn, Union, get_args, get_origin

from msgspec import NODEFAULT, Struct, structs

from dos.errors import BadInput
from dos.text import quote

# argparse looks on the disk for translations of its words; there are none, and looking is a fiftieth of a verb's time.
argparse._ = lambda text: text  # type: ignore[attr-defined]
LARGEST = 1 << 62
LONGEST_MESSAGE = 300


class Option(Struct, frozen=True, kw_only=True):
    """What a field's type does not say: used in `Annotated[type, Option(...)]`."""

    help: str = ""
    metavar: str = ""
    positional: bool = False
    choices: tuple[str, ...] = ()
    repeatable: bool = (
        False  # a list given by repeating the flag, instead of by many words after it
    )
    flags: tuple[str, ...] = ()  # other spellings
    hidden: bool = False
    may_be_bare: bool = False  # of a list: the flag without a word after it is an empty one
    may_be_empty: bool = False  # "" is a value of its own; for every other option it is a mistake


class Field(Struct, frozen=True, kw_only=True):
    """One argument of a verb, resolved."""

    name: str
    flag: str
    type: Any
    many: bool
    required: bool
    default: Any
    option: Option

    @property
    def metavar(self) -> str:
        return self.option.metavar or self.name.strip("_").upper()

    @property
    def label(self) -> str:
        """What a person calls it."""
        return self.metavar if self.option.positional else self.flag


def fields(arguments: type[Struct]) -> list[Field]:
    return [_field(found) for found in structs.fields(arguments)]


def _field(found: structs.FieldInfo) -> Field:
    kind, option = found.type, Option()
    if hasattr(kind, "__metadata__"):
        option = next((note for note in kind.__metadata__ if isinstance(note, Option)), option)
        kind = get_args(kind)[0]
    if get_origin(kind) in (Union, types.UnionType):
        kind = next(part for part in get_args(kind) if part is not type(None))
    many = get_origin(kind) in (list, tuple)
    default = found.default
    if default is NODEFAULT and found.default_factory is not NODEFAULT:
        default = found.default_factory()
    return Field(
        name=found.name,
        flag="--" + found.name.strip("_").replace("_", "-"),
        type=get_args(kind)[0] if many else kind,
        many=many,
        required=found.required,
        default=None if default is NODEFAULT else default,
        option=option,
    )


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        cut = message if len(message) <= LONGEST_MESSAGE else message[: LONGEST_MESSAGE - 1] + "…"
        raise BadInput(f"{self.prog}: {cut}", hint=f"`{self.prog} --help` shows what it takes.")


def build_parser(name: str, summary: str, arguments: type[Struct]) -> Parser:
    made = Parser(
        prog=f"dos {name}", description=as_sentence(summary).replace("%", "%%"), allow_abbrev=False, add_help=False,
        formatter_class=lambda prog: argparse.HelpFormatter(prog, max_help_position=32, width=100),
    )  # fmt: skip
    for field in fields(arguments):
        _add(made, field)
    return made


def _add(made: argparse.ArgumentParser, field: Field) -> None:
    option = field.option
    settings: dict[str, Any] = {"help": argparse.SUPPRESS if option.hidden else _explained(field)}
    if field.type is bool:
        settings |= {"action": "store_true", "default": None}
    else:
        settings["type"] = _number(field) if field.type in (int, float) else str
        if option.choices:
            settings["choices"] = [str(choice) for choice in option.choices]
        settings["metavar"] = field.metavar
    if field.many:
        may_be_none = option.positional or option.may_be_bare
        settings |= (
            {"action": "append"} if option.repeatable else {"nargs": "*" if may_be_none else "+"}
        )
    if option.positional:
        if not field.many and not field.required:
            settings["nargs"] = "?"
        made.add_argument(field.name, **settings)
    else:
        made.add_argument(
            field.flag, *option.flags, dest=field.name, required=field.required, **settings
        )


def _number(field: Field) -> Any:
    def convert(text: str) -> int | float:
        try:
            value: int | float = field.type("" if "_" in text else text)  # 1_000 is Python
        except ValueError:
            kind = "a whole number" if field.type is int else "a number"
            raise argparse.ArgumentTypeError(f"{quote(text)} is not {kind}") from None
        if value != value or abs(value) >= LARGEST:  # not a number, or one that no store can hold
            raise argparse.ArgumentTypeError(f"{quote(text)} is not a number to count with")
        return value

    return convert


def _explained(field: Field) -> str:
    shown = (
        ""
        if field.default in (None, "", False, 0, [], ()) or field.many
        else f" (default {field.default})"
    )
    return (field.option.help + shown).replace("%", "%%")


def as_sentence(summary: str) -> str:
    return summary[:1].upper() + summary[1:] + ("" if summary.endswith("?") else ".")
