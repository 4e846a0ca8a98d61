"""The `dos` command: finds the verb, builds its parser and no other, prints its reply, exits with its verdict."""

import sys

from dos.verbs.output import detach_stdout, print_answer, print_stderr
from dos.verbs.table import VERBS

# Flags that every verb takes, in any position; True: a value follows.
GLOBAL_FLAGS = {
    "--workspace": True,
    "--driver": True,
    "--job": False,
    "--json": False,
    "--output": True,
    "--pretty": False,
    "--explain": False,
    "--lenient": False,
    "--help": False,
    "-h": False,
}
BUG = 70
HOOK = "hook"  # the verbs that agent programs call
EXAMPLES = {"--workspace": "../other", "--output": "json", "--driver": "NAME"}


def main() -> None:
    """Most verbs are over in an instant: collecting garbage and taking the interpreter apart would be a fifth of it."""
    import gc
    import os

    gc.disable()  # `calling` switches it on again for the verb itself
    os._exit(run(sys.argv[1:]))  # whatever was said has been flushed


def run(arguments: list[str]) -> int:
    """The whole command; the guard at the top of this surface."""
    _make_streams_safe()
    try:
        return _dispatch(arguments)
    except BrokenPipeError:  # in the middle of a long story
        detach_stdout()
        return 0
    except KeyboardInterrupt:
        return 0 if _is_hook(arguments) else 130
    except Exception as error:  # noqa: BLE001 - nothing may leave here as a traceback
        return _hook_failed(error, arguments) if _is_hook(arguments) else _report(error)


def _is_hook(arguments: list[str]) -> bool:
    """Whether an agent program asks: the first word that is no flag, and no value of one, is `hook`."""
    queue = list(arguments)
    while queue and queue[0].startswith("-"):
        del queue[: 2 if GLOBAL_FLAGS.get(queue[0]) else 1]
    return queue[:1] == [HOOK]


def _hook_failed(error: Exception, arguments: list[str]) -> int:
    """Exit code 2 of a hook means "deny this call" to its host, so no error of ours may become one."""
    try:
        from dos.cli import hook_event

        if hook_event.is_usage_error(error):
            _report(error)
            return 2
        hook_event.report_failure(error, arguments)
    except Exception as second:  # noqa: BLE001 - whatever else is broken, the agent continues
        print_stderr(f"warning: dos hook: {type(second).__name__}: {second}")
    return 0


def _dispatch(arguments: list[str]) -> int:
    words, wishes, rest = _split(arguments)
    _check_driver(wishes)
    if not words:
        return _without_verb(wishes, rest)
    if len(words) == 1 and words[0] not in VERBS and _family(words[0]):
        return _without_second_word(words[0], wishes)
    name, rest = _named(words, rest)
    _load_msgspec_alone()
    from dos.cli import call

    return call.call_verb(VERBS[name], wishes, rest)


def _load_msgspec_alone() -> None:
    """Where typing_extensions is installed msgspec takes from it three names that typing has as well.

    Loading all of it for them would be a tenth of a verb's time; hidden for this moment, msgspec asks typing.
    """
    if "typing_extensions" not in sys.modules:
        sys.modules["typing_extensions"] = None  # type: ignore[assignment]
        try:
            import msgspec  # noqa: F401
        finally:
            del sys.modules["typing_extensions"]


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
            if not GLOBAL_FLAGS[flag] and equals:
                raise _bad(f"{flag} takes no value", f"Write {flag} alone, or leave it out.")
            if GLOBAL_FLAGS[flag] and not equals:
                if not queue:
                    raise _bad(
                        f"{flag} wants a value after it",
                        f"For example: dos status {flag} {EXAMPLES[flag]}",
                    )
                value = queue.pop(0)
            if GLOBAL_FLAGS[flag] and not value.strip():
                raise _bad(f"{flag} is empty", "Give it a value, or leave it out.")
            wishes[flag.lstrip("-")] = value or "yes"
        elif not rest and not word.startswith("-") and _continues(words, word):
            words.append(word)
        else:
            rest.append(word)
    return words, wishes, rest


def _bad(message: str, hint: str) -> Exception:
    from dos.errors import BadInput

    return BadInput(message, hint=hint)


def _continues(words: list[str], word: str) -> bool:
    """The first word is always the verb; a second one only where verbs of two words begin with the first."""
    return not words or (len(words) == 1 and bool(_family(words[0])))


def _family(word: str) -> list[str]:
    """The verbs of two words that begin with this one."""
    return [name for name in VERBS if name.startswith(f"{word} ")]


def _named(words: list[str], rest: list[str]) -> tuple[str, list[str]]:
    name = " ".join(words)
    if name in VERBS:
        return name, rest
    if (
        words[0] in VERBS
    ):  # a verb that stands alone and has longer sisters: the second word is its argument
        return words[0], words[1:] + rest
    from dos.verbs.catalog import unknown_verb

    raise unknown_verb([*words, *rest[:1]])


def _check_driver(wishes: dict[str, str]) -> None:
    name = wishes.get("driver") or ("job" if "job" in wishes else "")
    if name:
        from dos.errors import BadInput

        raise BadInput(
            f"there is no driver {name!r}: policy comes from dos.toml alone",
            hint="Leave the flag out.",
        )


def _without_verb(wishes: dict[str, str], rest: list[str]) -> int:
    asked = "version" if rest in (["--version"], ["-V"]) else "help"
    if rest and asked == "help":
        from dos.errors import BadInput

        raise BadInput(f"{rest[0]!r} is not a verb", hint="`dos --help` lists the verbs.")
    if "json" in wishes:
        from dos.cli import call

        return call.call_verb(VERBS[asked], {"json": "yes"}, [])
    if asked == "version":
        from dos.version import VERSION

        print_answer(f"dos {VERSION}\n")
        return 0
    from dos.cli.help import overview

    print_answer(overview())
    return 0


def _without_second_word(word: str, wishes: dict[str, str]) -> int:
    from dos.cli.help import family_page

    if "help" in wishes or "h" in wishes:
        print_answer(family_page(word))
        return 0
    if word == HOOK:
        moments = ", ".join(name.split()[1] for name in _family(HOOK))
        raise _bad(
            f"dos hook wants a moment: {moments}",
            "For example: dos hook stop --dialect codex < event.json",
        )
    print_stderr(f"error: dos {word} wants one more word\n{family_page(word)}".rstrip("\n"))
    return 2


def _report(error: Exception) -> int:
    from dos.errors import DosError

    if isinstance(error, DosError):
        print_stderr(f"error: {error.message}")
        if error.hint:
            print_stderr(f"  hint: {error.hint}")
        return error.exit_code
    import os
    import traceback

    if os.environ.get("DOS_TRACEBACK"):
        traceback.print_exc()
    place = traceback.extract_tb(error.__traceback__)[-1]
    print_stderr(
        f"error: dos has a bug: {type(error).__name__}: {error} ({place.filename}:{place.lineno})"
    )
    print_stderr("  hint: Run it again with DOS_TRACEBACK=1 and report what it prints.")
    return BUG


def _make_streams_safe() -> None:
    """Whatever the terminal's encoding is, a name with an odd character is shown somehow and never raises."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # the caller closed it
            import os

            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - kept until the end
            continue
        if hasattr(stream, "reconfigure"):
            is_utf8 = (stream.encoding or "").lower().replace("-", "") == "utf8"
            stream.reconfigure(errors="replace" if is_utf8 else "backslashreplace")
