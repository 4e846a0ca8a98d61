"""What programs write that edit text: by a script, or by what a person types."""

import re
from collections.abc import Sequence

from msgspec import Struct, field, structs

from dos.permission.shell.effect import KEPT, Effect, unknown
from dos.permission.shell.options import Arguments, parse
from dos.permission.shell.readers import Program
from dos.permission.shell.sed_script import only_prints
from dos.permission.shell.syntax.tokens import Word

# Words that can run or write something, and what may hide one of them.
_AWK_WRITES = re.compile(r">|\||system|close|@|inplace|\\\n")
_KEEPS_COPY = re.compile(r"-[a-zA-Z]*i.|--in-place=.")
_SED_LETTERS = frozenset("nErsuzi")
_EXPRESSION = re.compile(r"(?:s|y|tr)\W|.*[/;(]", re.DOTALL)
_YQ_COMMANDS = ("e", "eval", "ea", "eval-all")
_YQ_VALUED = ("output-format", "input-format", "indent", "expression", "from-file")
_YQ_FLAGS = (
    *("unwrapScalar", "prettyPrint", "null-input", "no-colors", "colors", "exit-status"),
    *("no-doc", "raw-output", "compact-output", "tojson", "yaml-output", "sort-keys", "verbose"),
)
_NO_PERSON = ("batch", "script", "headless", "es", "Es")


def _sed(words: Sequence[Word]) -> Effect:
    found = parse(_without_suffix(words), "efl", ("expression", "file", "line-length"))
    is_in_place = found.has("i", "in-place")
    scripts = found.all_values("e", "expression")
    files = found.operands
    if is_in_place and files and not files[0].text:  # the empty suffix of another sed
        files = files[1:]
    if not scripts and not found.has("f", "file"):
        scripts = files[:1]
        files = files[1:]
    effect = Effect(writes=files if is_in_place else [])
    if not found.letters <= _SED_LETTERS:  # `-I` of another sed edits in place as well
        effect.unknown = "an option of sed is not known"
    script = "\n".join(each.text for each in scripts)
    if found.has("f", "file") or not only_prints(script):
        effect.unknown = "a sed script can write files"
    elif is_in_place and any(_KEEPS_COPY.match(word.text) for word in words):
        effect.unknown = KEPT
    return effect


def _without_suffix(words: Sequence[Word]) -> list[Word]:
    """The words with `-i.bak` as `-i`: the suffix is no option."""
    kept: list[Word] = []
    for word in words:
        position = word.text.find("i", 1)
        if word.text.startswith("-") and not word.text.startswith("--") and position > 0:
            before = word.text[:position]
            if not set(before[1:]) & set("efl"):
                word = structs.replace(word, text=before + "i")
        kept.append(word)
    return kept


def _awk(words: Sequence[Word]) -> Effect:
    found = parse(words, "Fv", ("assign", "field-separator"))
    given = found.letters | found.names | found.valued.keys()
    has_others = not given <= {"F", "v", "assign", "field-separator", "posix", "csv"}
    if has_others or any(_AWK_WRITES.search(script.text) for script in found.operands[:1]):
        return unknown("an awk program can write files")
    return Effect()


class _Switches(Struct, kw_only=True):
    """The options of `perl` and `ruby`, of which many take the rest of their word."""

    is_in_place: bool = False
    has_script: bool = False
    operands: list[Word] = field(default_factory=list)


def _switches(words: Sequence[Word], rest: str, next_too: str) -> _Switches:
    """Read options: letters of `rest` take the rest of the word, `next_too` else the next word."""
    found = _Switches()
    index = 0
    while index < len(words):
        text = words[index].text
        if text == "--" or not text.startswith("-") or text == "-":
            break
        index += 1
        for place, letter in enumerate(text[1:], start=2):
            found.is_in_place = found.is_in_place or letter == "i"
            found.has_script = found.has_script or letter in "eE"
            if letter in next_too and not text[place:]:
                index += 1
            if letter in rest + next_too:
                break
    found.operands = [word for word in words[index:] if word.text != "--"]
    return found


def _rewrites(rest: str, next_too: str) -> Program:
    """A program that runs a script; with `-i` it also rewrites its operands."""

    def read(words: Sequence[Word]) -> Effect:
        found = _switches(words, rest, next_too)
        effect = unknown("a program can write anything")
        if found.is_in_place:
            effect.writes = found.operands if found.has_script else found.operands[1:]
        return effect

    return read


def _edits_yaml(words: Sequence[Word]) -> Effect:
    """`yq` prints, unless it edits in place; with `-s` it splits what it reads into files."""
    found = parse(words, "opI", _YQ_VALUED, flags=_YQ_FLAGS)
    effect = Effect()
    if not found.has_only("rPjopIenMCNcSyYavw0", (*_YQ_VALUED, *_YQ_FLAGS)):
        effect.unknown = "yq chooses the files"
    if found.has("i", "inplace", "in-place") and not found.has("arg", "argjson", "f"):
        effect.writes = _yaml_files(found)
    return effect


def _yaml_files(found: Arguments) -> list[Word]:
    """The operands of `yq` that are files: all but its command and the expression."""
    operands = found.operands
    if operands and operands[0].text in _YQ_COMMANDS:
        operands = operands[1:]
    if found.has("expression", "from-file"):
        return operands
    return operands[1:] or operands


def _renames(words: Sequence[Word]) -> Effect:
    """`rename` has two forms: an expression, or what is replaced by what."""
    found = parse(words, "e")
    effect = unknown("the new names are not known")
    if found.has("n", "no-act", "dry-run"):
        return effect
    first = 1 if found.operands and _EXPRESSION.match(found.operands[0].text) else 2
    effect.writes = found.operands if found.has("e") else found.operands[first:]
    return effect


def _edits(words: Sequence[Word]) -> Effect:
    """An editor writes its operands, and what its commands name.

    Without a person it runs a script, as those that run tests do: then operands may be anything.
    """
    effect = unknown("the commands of an editor can write files")
    options = [word.text.lstrip("-") for word in words if word.text.startswith("-")]
    if not any(option in _NO_PERSON or option == "l" for option in options):
        effect.writes = parse(words, "cSpuiTwW", ("cmd",)).operands
    return effect


def _edits_by_lisp(words: Sequence[Word]) -> Effect:
    """`emacs` writes its operands, when it is given nothing else."""
    effect = unknown("the commands of an editor can write files")
    if not any(word.text.startswith(("-", "+")) for word in words):
        effect.writes = list(words)
    return effect


EDITORS: dict[str, Program] = {
    "sed": _sed,
    "gsed": _sed,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "perl": _rewrites("iIMmFCxDVd", "eEI"),
    "ruby": _rewrites("iFKTWxEU", "eIrC"),
    "yq": _edits_yaml,
    "rename": _renames,
    "ex": _edits,
    "ed": _edits,
    "vi": _edits,
    "vim": _edits,
    "nvim": _edits,
    "nano": _edits,
    "emacs": _edits_by_lisp,
}
