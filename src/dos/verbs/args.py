"""Builds the parser of one verb from the fields of its `Args` record.

A field's type and default say what can be given; `Option` says the rest. The same fields make the
help page, the completion scripts and the reference page, so that these cannot disagree.
"""

import argparse
import types
from collections.abc import Callable
from typing import Any, NoReturn, Union, get_args, get_origin

from msgspec import NODEFAULT, Struct, structs

from dos.errors import BadInput
from dos.text import quote

# argparse searches the disk for translations. There are none, and the search takes a fiftieth of
# the time of a short verb.
argparse._ = lambda text: text  # type: ignore[attr-defined]
LARGEST = 1 << 62  # no store holds a larger number
LONGEST_MESSAGE = 300
HELP_WIDTH = 100
HELP_COLUMN = 32


class Option(Struct, frozen=True, kw_only=True):
    """What the type of a field does not say: used as `Annotated[type, Option(...)]`."""

    help: str = ""
    metavar: str = ""
    positional: bool = False
    choices: tuple[str, ...] = ()
    repeatable: bool = False  # a list is given by repeating the flag, not by many words after it
    flags: tuple[str, ...] = ()  # other spellings
    hidden: bool = False
    may_be_bare: bool = False  # for a list: the flag alone means an empty list
    may_be_empty: bool = False  # "" is a value; for every other option it is an error


class Field(Struct, frozen=True, kw_only=True):
    """One argument of a verb, with its type and its default resolved."""

    name: str
    flag: str
    type: Any
    many: bool
    required: bool
    default: Any
    option: Option

    @property
    def metavar(self) -> str:
        """What stands for the value in usage lines and messages."""
        return self.option.metavar or self.name.strip("_").upper()

    @property
    def label(self) -> str:
        """How messages name the argument: the flag, or the metavar of a positional."""
        if self.option.positional:
            return self.metavar
        return self.flag


def fields(arguments: type[Struct]) -> list[Field]:
    """Return the arguments that an `Args` record declares, in order."""
    return [_resolve(info) for info in structs.fields(arguments)]


def _resolve(info: structs.FieldInfo) -> Field:
    """Return the argument that a field declares.

    `Annotated`, `| None` and `list` are taken apart into the option, the type of one value, and
    whether there may be many.
    """
    kind = info.type
    option = Option()
    if hasattr(kind, "__metadata__"):
        notes = [note for note in kind.__metadata__ if isinstance(note, Option)]
        if notes:
            option = notes[0]
        kind = get_args(kind)[0]
    if get_origin(kind) in (Union, types.UnionType):
        kind = next(part for part in get_args(kind) if part is not type(None))
    many = get_origin(kind) in (list, tuple)
    if many:
        kind = get_args(kind)[0]
    return Field(
        name=info.name,
        flag="--" + info.name.strip("_").replace("_", "-"),
        type=kind,
        many=many,
        required=info.required,
        default=_default(info),
        option=option,
    )


def _default(info: structs.FieldInfo) -> Any:
    """Return the default of a field; None where it has none."""
    if info.default is not NODEFAULT:
        return info.default
    if info.default_factory is not NODEFAULT:
        return info.default_factory()
    return None


class Parser(argparse.ArgumentParser):
    """A parser that raises BadInput instead of printing usage and exiting."""

    def error(self, message: str) -> NoReturn:
        """Raise BadInput. argparse calls this for every command line that it cannot parse.

        Long messages are cut: argparse repeats what was typed, which may be a whole file.
        """
        if len(message) > LONGEST_MESSAGE:
            message = message[: LONGEST_MESSAGE - 1] + "…"
        raise BadInput(f"{self.prog}: {message}", hint=f"`{self.prog} --help` shows its arguments.")


def build_parser(name: str, summary: str, arguments: type[Struct]) -> Parser:
    """Return the parser of one verb. Only the verb that is called pays for its parser."""
    parser = Parser(
        prog=f"dos {name}",
        description=as_sentence(summary).replace("%", "%%"),
        allow_abbrev=False,
        add_help=False,
        formatter_class=_formatter,
    )
    for field in fields(arguments):
        _add_argument(parser, field)
    return parser


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Return argparse's formatter with one width, so that help does not depend on the terminal."""
    return argparse.HelpFormatter(prog, max_help_position=HELP_COLUMN, width=HELP_WIDTH)


def _add_argument(parser: argparse.ArgumentParser, field: Field) -> None:
    """Add one field to the parser.

    A flag that is not given has no value, so that the record's own default counts.
    """
    option = field.option
    settings: dict[str, Any] = {"help": _help_text(field)}
    if field.type is bool:
        settings |= {"action": "store_true", "default": None}
    else:
        settings["type"] = _number(field) if field.type in (int, float) else str
        settings["metavar"] = field.metavar
        if option.choices:
            settings["choices"] = [str(choice) for choice in option.choices]
    if field.many and option.repeatable:
        settings["action"] = "append"
    elif field.many:
        may_be_none = option.positional or option.may_be_bare
        settings["nargs"] = "*" if may_be_none else "+"
    if not option.positional:
        parser.add_argument(
            field.flag, *option.flags, dest=field.name, required=field.required, **settings
        )
        return
    if field.many:
        settings["default"] = None  # else argparse calls it missing beside one that is
    elif not field.required:
        settings["nargs"] = "?"
    parser.add_argument(field.name, **settings)


def _number(field: Field) -> Callable[[str], int | float]:
    """Return the converter of an int or float option, with messages in plain words."""

    def convert(text: str) -> int | float:
        try:
            # Python reads 1_000 as a number; a shell script does not mean one.
            value: int | float = field.type("" if "_" in text else text)
        except ValueError:
            kind = "a whole number" if field.type is int else "a number"
            raise argparse.ArgumentTypeError(f"{quote(text)} is not {kind}") from None
        is_nan = value != value
        if is_nan or abs(value) >= LARGEST:
            raise argparse.ArgumentTypeError(f"{quote(text)} is out of range")
        return value

    return convert


def _help_text(field: Field) -> str:
    """Return the help of an argument with its default, as argparse wants it."""
    if field.option.hidden:
        return argparse.SUPPRESS
    return (field.option.help + default_note(field)).replace("%", "%%")


def default_note(field: Field) -> str:
    """Return " (default X)" for a field whose default says something, else ""."""
    if field.many or field.default in (None, "", False, 0, [], ()):
        return ""
    return f" (default {field.default})"


def as_sentence(summary: str) -> str:
    """Return a help line as a sentence: with a capital letter and a full stop."""
    sentence = summary[:1].upper() + summary[1:]
    if sentence.endswith("?"):
        return sentence
    return sentence + "."
