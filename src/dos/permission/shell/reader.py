"""Read what a shell text writes, without running it.

Conditions are not evaluated: every command counts as run, and `cd` as successful. What the shell
expands is not known, so such a path makes the rest unknown; known paths beside it stay known.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct, field

from dos.permission.shell import expansion, patches, prefixes, tree_paths
from dos.permission.shell.effect import Effect, unknown
from dos.permission.shell.git_commands import git_effect, split_command
from dos.permission.shell.name_table import name_table
from dos.permission.shell.options import parse
from dos.permission.shell.programs import PROGRAMS, READERS
from dos.permission.shell.words import (
    NotReadable,
    Operator,
    Redirect,
    Script,
    Token,
    Word,
    read_script,
)

MOST_PATHS = 2_000
DEEPEST = 6  # shells inside one another
_WRITING = frozenset((">", ">>", ">|", "&>", "&>>", ">&", "<>"))
_SINKS = name_table("/dev/null /dev/stdout /dev/stderr /dev/tty /dev/zero /dev/full /dev/ptmx")
_PIPES = ("|", "|&")
_SHELLS = name_table("sh bash dash zsh ksh ash fish")


class _Reading(Struct, kw_only=True):
    """What was found so far."""

    root: str
    writes: dict[str, None] = field(default_factory=dict)
    unknown: str = ""

    def add_unknown(self, why: str) -> None:
        self.unknown = self.unknown or why


class _Command(Struct, kw_only=True):
    words: list[Word] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)


class Written(Struct, frozen=True, kw_only=True):
    """The paths that a command writes, and why there may be more."""

    paths: tuple[str, ...]
    unknown: str


def read_command(text: str, *, base: str, root: str) -> Written:
    """Return what a shell text writes. `base` is the folder that it starts in. Never raises."""
    reading = _Reading(root=root)
    _read_text(text, base, reading, 0)
    return Written(paths=tuple(reading.writes), unknown=reading.unknown)


def _read_text(text: str, base: str | None, reading: _Reading, depth: int) -> None:
    if depth >= DEEPEST:
        reading.add_unknown("too many shells start one another")
        return
    try:
        script = read_script(text)
    except NotReadable as error:
        reading.add_unknown(str(error))
        return
    _Walk(reading, base, depth).script(script)


class _Walk:
    """Goes through the commands of a script in their order, and follows `cd`."""

    def __init__(self, reading: _Reading, base: str | None, depth: int) -> None:
        self._reading = reading
        self._base = base  # None: unknown
        self._depth = depth
        self._outer: list[str | None] = []  # the folders of the shells around a subshell
        self._pushed: list[str | None] = []
        self._special: dict[str, Callable[[Sequence[Word], Sequence[Redirect]], None]] = {
            "cd": self._change_folder,
            "chdir": self._change_folder,
            "pushd": self._push_folder,
            "popd": self._pop_folder,
            "git": self._git,
            "eval": self._eval,
            "apply_patch": self._apply_patch,
            "applypatch": self._apply_patch,
            "patch": self._patch,
        }

    def script(self, script: Script) -> None:
        """Read all commands, and those of the substitutions in their words."""
        for nested in script.substitutions:
            self._reading.add_unknown("the result of a command substitution is not known")
            _Walk(self._reading, self._base, self._depth).script(nested)
        before = ""
        command = _Command()
        for token in [*script.tokens, Operator(text="\n")]:
            if not isinstance(token, Operator):
                _add(command, token)
                continue
            self._run(
                command,
                is_in_pipe=before in _PIPES or token.text in (*_PIPES, "&"),
                is_alternative=before == "||",
            )
            command = _Command()
            before = token.text
            if token.text == "(":
                self._outer.append(self._base)
            elif token.text == ")" and self._outer:
                self._base = self._outer.pop()

    def _run(self, command: _Command, *, is_in_pipe: bool, is_alternative: bool) -> None:
        """Read one command. In a pipe it has a process of its own, and changes no folder here."""
        words = prefixes.without_keywords(command.words)
        if (words and words[0].text == "[[") or any(word.text == "]]" for word in words):
            return
        for redirect in command.redirects:
            self._redirect(redirect)
        base = self._base
        self._command(words, command.redirects)
        if is_in_pipe:
            self._base = base
        elif is_alternative and self._base != base:
            self._base = None

    def _redirect(self, redirect: Redirect) -> None:
        if redirect.operator not in _WRITING:
            if not redirect.body_is_data:
                self._reading.add_unknown("a heredoc holds a command substitution")
            return
        target = redirect.target
        is_stream = redirect.operator == ">&" and (target.text.isdigit() or target.text == "-")
        if not is_stream and (target.text or not target.is_literal):
            self._write(target)

    def _command(self, words: Sequence[Word], redirects: Sequence[Redirect]) -> None:
        base = self._base
        command = prefixes.without_wrappers(words)
        if command.unknown:
            self._reading.add_unknown(command.unknown)
        for written in command.writes:
            self._write(written)
        if command.script:
            _read_text(command.script.text, base, self._reading, self._depth + 1)
        words = command.words
        if not words:
            return
        if not words[0].is_literal:
            self._reading.add_unknown("a variable names the program")
            return
        if command.folder is not None:
            self._enter(command.folder)
        self._program(words, redirects)
        if command.folder is not None:
            self._base = base

    def _program(self, words: Sequence[Word], redirects: Sequence[Redirect]) -> None:
        name = words[0].text.rpartition("/")[2]
        arguments = words[1:]
        special = self._special.get(name)
        if special is not None:
            special(arguments, redirects)
        elif name in _SHELLS:
            self._shell(arguments, redirects)
        elif name in PROGRAMS:
            self._add(PROGRAMS[name](arguments))
        elif name not in READERS:
            self._reading.add_unknown(f"{name[:40]} can write files")

    def _git(self, arguments: Sequence[Word], redirects: Sequence[Redirect]) -> None:
        command = split_command(arguments)
        base = self._base
        for folder in command.folders:
            self._enter(folder)
        effect = git_effect(command)
        if command.name == "apply":
            effect = _with_heredoc(effect, command.words, redirects)
        self._add(effect)
        self._base = base

    def _shell(self, arguments: Sequence[Word], redirects: Sequence[Redirect]) -> None:
        """A shell in the shell: a literal script is read, a file is not."""
        found = parse(arguments, "oO", ("rcfile", "init-file"), stops=True)
        if found.has("c"):
            script = found.operands[0] if found.operands else Word()
            if script.is_literal:
                _read_text(script.text, self._base, self._reading, self._depth + 1)
            else:
                self._reading.add_unknown("a variable is part of a script")
            return
        bodies = [redirect.body for redirect in redirects if redirect.body is not None]
        if bodies and not found.operands:
            _read_text(bodies[-1], self._base, self._reading, self._depth + 1)
            return
        if not found.has("version", "help"):
            self._reading.add_unknown("a script can write files")

    def _patch(self, arguments: Sequence[Word], redirects: Sequence[Redirect]) -> None:
        self._add(_with_heredoc(PROGRAMS["patch"](arguments), arguments, redirects))

    def _eval(self, arguments: Sequence[Word], _redirects: Sequence[Redirect]) -> None:
        self._reading.add_unknown("eval runs what its words become")
        if all(word.is_literal for word in arguments):
            text = " ".join(word.text for word in arguments)
            _read_text(text, self._base, self._reading, self._depth + 1)

    def _apply_patch(self, arguments: Sequence[Word], redirects: Sequence[Redirect]) -> None:
        texts = [word.text for word in arguments]
        texts += [redirect.body or redirect.target.text for redirect in redirects]
        named = patches.patched_paths("\n".join(texts))
        for path in named:
            self._write(Word(text=path))
        if not named:
            self._reading.add_unknown("what a patch changes is not in the command")

    def _push_folder(self, arguments: Sequence[Word], redirects: Sequence[Redirect]) -> None:
        self._pushed.append(self._base)
        self._change_folder(arguments, redirects)

    def _pop_folder(self, _arguments: Sequence[Word], _redirects: Sequence[Redirect]) -> None:
        self._base = self._pushed.pop() if self._pushed else None

    def _change_folder(self, arguments: Sequence[Word], _redirects: Sequence[Redirect]) -> None:
        operands = [word for word in arguments if not word.text.startswith("-")]
        if any(word.text == "-" for word in arguments):
            self._base = None
        else:
            self._enter(operands[0] if operands else Word(text="~", has_tilde=True))

    def _enter(self, folder: Word) -> None:
        if not folder.is_literal or folder.has_glob or folder.has_brace:
            self._base = None
        elif folder.has_tilde or folder.text.startswith("/"):
            self._base = folder.text
        elif self._base is not None:
            self._base = f"{self._base}/{folder.text}"

    def _add(self, effect: Effect) -> None:
        if effect.unknown:
            self._reading.add_unknown(effect.unknown)
        for word in effect.writes:
            self._write(word)

    def _write(self, word: Word) -> None:
        """Note a path that is written, for each word that its braces stand for."""
        if not word.is_literal:
            self._reading.add_unknown("a variable is part of a path")
            return
        names = expansion.expand_braces(word)
        if names is None:
            self._reading.add_unknown("a pattern names too many paths")
            return
        for name in names:
            self._write_path(name, word)

    def _write_path(self, name: str, word: Word) -> None:
        if not name or name == "-" or name in _SINKS or name.startswith(("/dev/fd/", "/dev/pts/")):
            return
        if word.has_glob and expansion.starts_anywhere(name):
            self._reading.add_unknown("a pattern can match in any folder")
            return
        if word.has_tilde and not name.startswith("~/") and name != "~":
            self._reading.add_unknown("the home of another user is not known")
            return
        is_absolute = name.startswith("/") or word.has_tilde
        if not is_absolute and self._base is None:
            self._reading.add_unknown("the current folder is not known")
            return
        if not word.has_tilde and name.startswith("~"):
            name = f"./{name}"
        if not is_absolute and self._base is not None and self._base.startswith("~"):
            path = f"{self._base}/{name}"
        else:
            base = self._base or self._reading.root
            path = tree_paths.from_tree(name, base=base, root=self._reading.root)
        if len(self._reading.writes) >= MOST_PATHS:
            self._reading.add_unknown(f"more than {MOST_PATHS} paths are named")
            return
        self._reading.writes.setdefault(path)


def _add(command: _Command, token: Token) -> None:
    if isinstance(token, Redirect):
        command.redirects.append(token)
    elif isinstance(token, Word):
        command.words.append(token)


def _with_heredoc(
    effect: Effect, arguments: Sequence[Word], redirects: Sequence[Redirect]
) -> Effect:
    """The effect of `patch` and `git apply`, when the patch is a heredoc of the command."""
    bodies = [redirect.body for redirect in redirects if redirect.body]
    if not bodies or not effect.unknown:
        return effect
    found = parse(arguments, "pd", ("strip", "directory"))
    level = found.value("p", "strip")
    strip = 1
    if level is not None and level.text.isdigit():
        strip = int(level.text)
    if found.has("d", "directory") or (found.has("p", "strip") and level is None):
        return unknown("what a patch changes depends on its options")
    named = patches.diff_paths(bodies[-1], strip)
    return Effect(writes=[*effect.writes, *(Word(text=path) for path in named)])
