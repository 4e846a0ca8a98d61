"""The `dos` command: finds the verb, builds its parser and no other, prints its reply, exits with its verdict."""

import sys

from dos.questions import VERBS

# Flags that every verb takes, in any position; True: a value follows.
GLOBAL_FLAGS = {
    "--workspace": True,
    "--driver": True,
    "--job": False,
    "--json": False,
    "--explain": False,
    "--lenient": False,
    "--help": False,
    "-h": False,
}


def main() -> None:
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """The whole command; the guard at the top of this surface."""
    _make_streams_safe()
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        return _closed_pipe()
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001 - nothing may leave here as a traceback
        return _report(error)


def _dispatch(arguments: list[str]) -> int:
    words, wishes, rest = _split(arguments)
    if not words:
        return _without_verb(wishes, rest)
    name, rest = _named(words, rest)
    from dos.surfaces.cli import calling

    return calling.call(VERBS[name], wishes, rest)


def _split(arguments: list[str]) -> tuple[list[str], dict[str, str], list[str]]:
    """The verb's words, the global flags found anywhere, and what is left for the verb's own parser."""
    words: list[str] = []
    wishes: dict[str, str] = {}
    rest: list[str] = []
    queue = list(arguments)
    while queue:
        word = queue.pop(0)
        flag, equals, value = word.partition("=")
        if word == "--":
            rest += [word, *queue]
            break
        if flag in GLOBAL_FLAGS:
            if GLOBAL_FLAGS[flag] and not equals:
                if not queue:
                    from dos.errors import BadInput

                    raise BadInput(
                        f"{flag} wants a value after it", hint="For example: dos --workspace ../other status"
                    )
                value = queue.pop(0)
            wishes[flag.lstrip("-")] = value or "yes"
        elif not rest and not word.startswith("-") and _continues(words, word):
            words.append(word)
        else:
            rest.append(word)
    return words, wishes, rest


def _continues(words: list[str], word: str) -> bool:
    """The first word is always the verb; a second one only where verbs of two words begin with the first."""
    if not words:
        return True
    return len(words) == 1 and any(name.startswith(f"{words[0]} ") for name in VERBS)


def _named(words: list[str], rest: list[str]) -> tuple[str, list[str]]:
    name = " ".join(words)
    if name in VERBS:
        return name, rest
    if words[0] in VERBS:  # a verb that stands alone and has longer sisters: the second word is its argument
        return words[0], words[1:] + rest
    from difflib import get_close_matches

    from dos.errors import BadInput

    family = [known for known in VERBS if known.startswith(f"{words[0]} ")]
    if family:
        raise BadInput(
            f"dos {words[0]} wants one of: {', '.join(known.split(' ', 1)[1] for known in family)}"
            + (f"; it got {words[1]!r}" if len(words) > 1 else ""),
            hint=f"For example: dos {family[0]} --help",
        )
    near = get_close_matches(name, VERBS, 1)
    raise BadInput(
        f"there is no verb {words[0]!r}" + (f"; did you mean `dos {near[0]}`?" if near else ""),
        hint="`dos --help` lists the verbs.",
    )


def _without_verb(wishes: dict[str, str], rest: list[str]) -> int:
    if rest in (["--version"], ["-V"]):
        from importlib.metadata import version

        sys.stdout.write(f"dos {version('dispatch-os')}\n")
        return 0
    if rest:
        from dos.errors import BadInput

        raise BadInput(f"{rest[0]!r} is not a verb", hint="`dos --help` lists the verbs.")
    from dos.surfaces.cli.overview import overview

    sys.stdout.write(overview())
    return 0


def _report(error: Exception) -> int:
    from dos.errors import DosError

    if isinstance(error, DosError):
        _complain(f"error: {error.message}")
        if error.hint:
            _complain(f"  hint: {error.hint}")
        return error.exit_code
    import os
    import traceback

    if os.environ.get("DOS_TRACEBACK"):
        traceback.print_exc()
    place = traceback.extract_tb(error.__traceback__)[-1]
    _complain(f"error: dos has a bug: {type(error).__name__}: {error} ({place.filename}:{place.lineno})")
    _complain("  hint: Run it again with DOS_TRACEBACK=1 and report what it prints.")
    return 70


def _complain(line: str) -> None:
    try:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
    except OSError:
        pass  # nobody is left to read it; the exit code still says it


def _closed_pipe() -> int:
    """The reader went away, as `head` does: that is its right."""
    import os

    # Python would complain once more when it flushes at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _make_streams_safe() -> None:
    """Whatever the terminal's encoding is, a name with an odd character is shown somehow and never raises."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace" if (stream.encoding or "").lower() != "utf-8" else "replace")
