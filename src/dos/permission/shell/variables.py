"""What a script does with variables: which steer programs, and which hold text that is evaluated.

Wherever a shell expects a number or the name of a variable, it evaluates what it gets, and a
subscript in it can run a command. So it is certain only of numbers and plain names, and of
variables to which the script assigns nothing but numbers. What the environment holds is trusted.
"""

import re
from collections.abc import Callable, Sequence

from msgspec import Struct, field

from dos.permission.shell.name_table import name_table
from dos.permission.shell.options import Arguments, parse
from dos.permission.shell.syntax import evaluation
from dos.permission.shell.syntax.conditions import condition_names
from dos.permission.shell.syntax.evaluation import (
    ALWAYS_TEXT,
    NAME,
    Names,
    all_names,
    assigned_name,
    is_number,
    is_plain_name,
)
from dos.permission.shell.syntax.tokens import Script, Word

# By these the words of a command mean another program, file or folder, or a program runs others.
_STEERS = re.compile(
    r"[A-Z]*PATH|\w+_CONFIG_PATH|GCONV_PATH|HOME|CURL_HOME|ZDOTDIR|LD_\w+|DYLD_\w+|BASH\w*|ENV"
    r"|SHELL|SHELLOPTS|POSIXLY_CORRECT|PS[0-4]|PROMPT_COMMAND|GIT_\w+|\w*PAGER|LESS\w*|EDITOR"
    r"|VISUAL|BROWSER|XDG_\w+|BAT_\w+|\w+_(?:OPTS?|OPTIONS|RSH|PROG|SHELL|PRELOAD)|MANOPT|WGETRC"
    # Those of zsh: a `path` that is set there is the PATH.
    r"|path|cdpath|fpath|NULLCMD|READNULLCMD"
    r"|GZIP|BZIP2?|XZ_\w+|ZSTD_\w+|ZIP|UNZIP|ZIPINFO|SSLKEYLOGFILE|OPENSSL_\w+|MALLOC_TRACE",
    re.ASCII,
)
_HARMLESS = re.compile(r"\w*PAGER=(?:cat|less|more)?|GIT_(?:OPTIONAL_LOCKS|TERMINAL_PROMPT)=\d")
_TABLES = name_table("aliases commands functions galiases saliases")  # of zsh: what a name runs
_NUMBER_FORMAT = re.compile(r"%[^%A-Za-z]*[diouxXeEfFgGaA]")
_DECLARES = name_table("declare export local readonly typeset")
_SHOWN_ONLY = frozenset("aAxrgpfFlut")  # options of these that evaluate nothing
_SETS = re.compile(r"[-+][efuvx]+|[-+][efuvx]*o")
_SET_NAMES = name_table("errexit nounset noglob pipefail verbose xtrace")
_SHELL_OPTIONS = name_table("extglob nullglob globstar dotglob failglob nocaseglob nocasematch")
_OTHERS = name_table("[ let printf set shopt test")
_COMBINES = name_table("-a -o ( )")
_EVALUATES = "{} evaluates its words"


def steers(name: str) -> bool:
    """Whether a variable decides what programs do, or which ones are run."""
    return bool(_STEERS.fullmatch(name))


def takes_names(builtin: str) -> bool:
    """Whether a program of the shell is given names of variables, or evaluates its words."""
    return builtin in _DECLARES or builtin in _NAMED or builtin in _OTHERS


class Variables(Struct, kw_only=True):
    """What a script was seen to assign and to evaluate."""

    texts: set[str] = field(default_factory=set)  # variables that may hold something but a number
    evaluated: set[str] = field(default_factory=set)
    unknown: str = ""

    def why_unknown(self) -> str:
        """Why the script may do more than its words say; empty: it does not."""
        for name in sorted(self.evaluated):
            if name in self.texts or name in ALWAYS_TEXT or not NAME.fullmatch(name):
                self._doubt("a text that a variable holds is evaluated")
            self._note_steering(name)
        return self.unknown

    def read_script(self, script: Script) -> None:
        """Note what is evaluated and assigned in the words of a script."""
        for text in script.arithmetic:
            self.evaluate(evaluation.arithmetic_names(text))
        for text in script.parameters:
            found = evaluation.parameter_names(text)
            self.evaluate(None if found is None else found[0])
            if found is not None and found[1]:
                self.assign(found[1])

    def evaluate(self, names: Names | None) -> None:
        """Note variables whose text is evaluated; None: which ones is not known."""
        if names is None:
            self._doubt("what is evaluated is not known")
        else:
            self.evaluated |= names

    def assign(self, name: str, *, is_text: bool = True) -> None:
        """Note a variable that is set."""
        self._note_steering(name)
        if is_text:
            self.texts.add(name)

    def assign_words(self, words: Sequence[Word]) -> None:
        """Note what `NAME=VALUE` assigns, in front of a command or to a builtin."""
        for word in words:
            found = assigned_name(word)
            if found is None:
                continue
            self.evaluate(found[1])
            if found[0] in _TABLES and word.text.startswith(f"{found[0]}["):
                self._doubt(f"{found[0]} decides what is run")
            if not (word.is_literal and _HARMLESS.fullmatch(word.text)):
                self.assign(found[0], is_text=not is_number(word))

    def loop(self, words: Sequence[Word]) -> None:
        """Note the variable of a loop: the words are its name, `in`, and the values."""
        if words and NAME.fullmatch(words[0].text):
            values = words[2:]
            is_text = not values or not all(map(_is_plain_number, values))
            self.assign(words[0].text, is_text=is_text)

    def builtin(self, name: str, words: Sequence[Word]) -> None:
        """Note what a builtin does with the variables that it is given."""
        if name in _DECLARES:
            self._declare(name, words)
        elif name in ("test", "["):
            self._test(name, words[:-1] if name == "[" else words)
        elif name in _NAMED:
            letters, named = _NAMED[name]
            self._assign_named(name, named(parse(words, letters)))
        elif name == "printf":
            self._printf(words)
        elif name == "let":
            self._doubt(_EVALUATES.format(name))
        elif name == "set":
            self._set(words)
        elif name == "shopt" and not all(_is_shell_option(word) for word in words):
            self._doubt("an option changes how the shell reads")

    def _assign_named(self, builtin: str, words: Sequence[Word]) -> None:
        for word in words:
            if is_plain_name(word):
                self.assign(word.text)
            else:
                self._doubt(_EVALUATES.format(builtin))

    def _declare(self, name: str, words: Sequence[Word]) -> None:
        for word in words:
            text = word.text
            is_option = word.is_literal and text[:1] in ("-", "+")
            if is_option and _SHOWN_ONLY.issuperset(text[1:].replace("-", "")):
                continue
            if is_option or not (is_plain_name(word) or assigned_name(word)):
                self._doubt(_EVALUATES.format(name))

    def _printf(self, words: Sequence[Word]) -> None:
        """Note the variable of `-v`, which can also be the text of the first word."""
        if words and not words[0].is_literal:
            self.evaluate(all_names(words[:1]))
        elif words and words[0].text.startswith("-v"):
            attached = Word(text=words[0].text[2:])
            self._assign_named("printf", [attached] if attached.text else words[1:2])
        if words and _NUMBER_FORMAT.search(words[0].text):  # some shells evaluate what they print
            self.evaluate(all_names(words[1:]))
            if any("$(" in word.text or "`" in word.text for word in words):
                self._doubt(_EVALUATES.format("printf"))

    def _test(self, name: str, words: Sequence[Word]) -> None:
        """Note the variable of `-v`, which can also be the text of another one."""
        for place, word in enumerate(words):
            if word.text in ("-v", "-R") and not all(map(is_plain_name, words[place + 1 :][:1])):
                self._doubt(_EVALUATES.format(name))
        self.evaluate(condition_names(words))  # some shells evaluate what they compare
        own = [word for word in words if word.text != "!"]
        is_open = any(word.text in _COMBINES for word in own)
        is_open = is_open or (len(own) == 2 and not own[0].is_literal)
        self.evaluate(all_names([word for word in own if is_open or word.is_split]))

    def _set(self, words: Sequence[Word]) -> None:
        is_name = False
        for word in words:
            if word.text == "--" or (not is_name and word.text[:1] not in ("-", "+")):
                break
            known = word.text in _SET_NAMES if is_name else _SETS.fullmatch(word.text)
            if not known:
                self._doubt("an option changes how the shell reads")
            is_name = not is_name and word.text.endswith("o")
        if any(not word.is_literal for word in words[:1]):
            self._doubt("an option changes how the shell reads")

    def _note_steering(self, name: str) -> None:
        if steers(name):
            self._doubt(f"{name[:40]} decides what is run")

    def _doubt(self, why: str) -> None:
        self.unknown = self.unknown or why


def _is_plain_number(word: Word) -> bool:
    return word.is_literal and word.text.isascii() and word.text.isdigit()


def _is_shell_option(word: Word) -> bool:
    return word.is_literal and (word.text[:1] == "-" or word.text in _SHELL_OPTIONS)


def _of_read(found: Arguments) -> list[Word]:
    return found.all_values("a") + found.operands


# The builtins that set variables: their options with a value, and the words that are names.
_NAMED: dict[str, tuple[str, Callable[[Arguments], list[Word]]]] = {
    "read": ("adinNptu", _of_read),
    "mapfile": ("dnOsuCc", lambda found: found.operands),
    "readarray": ("dnOsuCc", lambda found: found.operands),
    "getopts": ("", lambda found: found.operands[1:2]),
    "wait": ("p", lambda found: found.all_values("p")),
    "unset": ("", lambda found: found.operands),
}
