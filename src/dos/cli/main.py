"""The `dos` command: finds the verb, runs it and exits with its code.

Only what the named verb needs is imported: agents and hooks call `dos` thousands of times.
"""

import sys

from dos.verbs.listing.commands import GLOBAL_FLAGS
from dos.verbs.listing.table import VERBS
from dos.verbs.output import detach_stdout, print_answer, print_stderr

BUG = 70
INTERRUPTED = 130
HOOK = "hook"  # the verbs that agent programs call
EXAMPLES = {"--workspace": "../other", "--output": "json", "--driver": "NAME"}


def main() -> None:
    """Run the command line and exit.

    Most verbs end within milliseconds. Collecting garbage and shutting down the interpreter would
    be a fifth of that, so both are skipped.
    """
    import gc
    import os

    gc.disable()  # `call_verb` enables it for the verb itself
    os._exit(run(sys.argv[1:]))  # all output has been flushed


def serve_mcp() -> None:
    """Run `dos mcp` with the rest of the command line, as the command `dos-mcp` does."""
    sys.argv.insert(1, "mcp")
    main()


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code; no exception leaves this function."""
    _make_streams_safe()
    try:
        return _dispatch(arguments)
    except BrokenPipeError:  # the reader of a long output closed the pipe
        detach_stdout()
        return 0
    except KeyboardInterrupt:
        return 0 if _is_hook(arguments) else INTERRUPTED
    except Exception as error:  # noqa: BLE001
        # Every error of a verb ends here. It is printed with its hint and becomes the exit code; an
        # error that dos did not raise on purpose is printed as a bug, with its file and line.
        if _is_hook(arguments):
            return _report_hook_failure(error, arguments)
        return _report(error)


def _is_hook(arguments: list[str]) -> bool:
    """Whether an agent program calls: the first word that is no option, or its value, is `hook`."""
    queue = list(arguments)
    while queue and queue[0].startswith("-"):
        takes_value = GLOBAL_FLAGS.get(queue[0], False)
        del queue[: 2 if takes_value else 1]
    return queue[:1] == [HOOK]


def _report_hook_failure(error: Exception, arguments: list[str]) -> int:
    """Report an error of a hook and return 0, so that the agent continues.

    Agent programs read exit code 2 of a hook as "deny this call".
    """
    try:
        from dos.cli import hook_event

        if hook_event.is_usage_error(error):
            _report(error)
            return 2
        hook_event.report_failure(error, arguments)
    except Exception as second:  # noqa: BLE001
        # The report itself failed, in any way: it is printed, and the agent still continues.
        print_stderr(f"warning: dos hook: {type(second).__name__}: {second}")
    return 0


def _dispatch(arguments: list[str]) -> int:
    """Find the verb of a command line and run it. Raises DosError."""
    words, options, rest = _split(arguments)
    _refuse_driver(options)
    if not words:
        return _run_without_verb(options, rest)
    if len(words) == 1 and words[0] not in VERBS and _family(words[0]):
        return _run_without_second_word(words[0], options)
    name, rest = _find_verb(words, rest)
    _import_msgspec()
    from dos.cli import call

    return call.call_verb(VERBS[name], options, rest)


def _import_msgspec() -> None:
    """Import msgspec without typing_extensions.

    Where typing_extensions is installed, msgspec takes three names from it that typing has as well.
    Importing it takes a tenth of the time of a short verb; hidden for a moment, it is not imported.
    """
    if "typing_extensions" not in sys.modules:
        sys.modules["typing_extensions"] = None  # type: ignore[assignment]
        try:
            import msgspec  # noqa: F401
        finally:
            del sys.modules["typing_extensions"]


def _split(arguments: list[str]) -> tuple[list[str], dict[str, str], list[str]]:
    """Split the command line into the words of the verb, the global options and the rest.

    Global options are recognised anywhere before `--`; the rest is for the parser of the verb.
    """
    words: list[str] = []
    options: dict[str, str] = {}
    rest: list[str] = []
    queue = list(arguments)
    while queue:
        word = queue.pop(0)
        if word == "--":
            rest += [word, *queue]
            break
        flag = word.partition("=")[0]
        if flag in GLOBAL_FLAGS:
            options[flag.lstrip("-")] = _option_value(word, queue)
        elif not rest and not word.startswith("-") and _continues(words):
            words.append(word)
        else:
            rest.append(word)
    return words, options, rest


def _option_value(word: str, queue: list[str]) -> str:
    """Return the value of a global option, taken from the queue where it is a word of its own."""
    flag, equals, value = word.partition("=")
    if not GLOBAL_FLAGS[flag]:
        if equals:
            raise _bad_input(f"{flag} takes no value", f"Write {flag} alone, or leave it out.")
        return "yes"
    if not equals:
        if not queue:
            raise _bad_input(
                f"{flag} needs a value", f"For example: dos status {flag} {EXAMPLES[flag]}"
            )
        value = queue.pop(0)
    if not value.strip():
        raise _bad_input(f"{flag} is empty", "Give it a value, or leave it out.")
    return value


def _bad_input(message: str, hint: str) -> Exception:
    """Return the error for a command line; the class is imported only where there is an error."""
    from dos.errors import BadInput

    return BadInput(message, hint=hint)


def _continues(words: list[str]) -> bool:
    """Whether the next word belongs to the verb.

    The first word always does; a second one only where verbs of two words begin with the first.
    """
    if not words:
        return True
    return len(words) == 1 and bool(_family(words[0]))


def _family(word: str) -> list[str]:
    """Return the verbs of two words that begin with this one."""
    return [name for name in VERBS if name.startswith(f"{word} ")]


def _find_verb(words: list[str], rest: list[str]) -> tuple[str, list[str]]:
    """Return the name of the verb and the words left for its parser."""
    name = " ".join(words)
    if name in VERBS:
        return name, rest
    # `decisions 2`: a verb of one word that shares it with verbs of two; the second is an argument.
    if words[0] in VERBS:
        return words[0], words[1:] + rest
    from dos.verbs.lookup import unknown_verb

    raise unknown_verb([*words, *rest[:1]])


def _refuse_driver(options: dict[str, str]) -> None:
    """Refuse the options by which dos-kernel chose a driver: this version has none."""
    name = options.get("driver", "")
    if not name and "job" in options:
        name = "job"
    if name:
        raise _bad_input(
            f"unknown driver {name!r}: policy comes from dos.toml alone", "Leave the option out."
        )


def _run_without_verb(options: dict[str, str], rest: list[str]) -> int:
    is_version = rest in (["--version"], ["-V"])
    if rest and not is_version:
        raise _bad_input(f"{rest[0]!r} is not a verb", "`dos --help` lists the verbs.")
    if "json" in options:
        from dos.cli import call

        return call.call_verb(VERBS["version" if is_version else "help"], {"json": "yes"}, [])
    if is_version:
        from dos.version import VERSION

        print_answer(f"dos {VERSION}\n")
        return 0
    from dos.cli.help import overview

    print_answer(overview())
    return 0


def _run_without_second_word(word: str, options: dict[str, str]) -> int:
    from dos.cli.help import family_page

    if "help" in options or "h" in options:
        print_answer(family_page(word))
        return 0
    if word == HOOK:
        events = ", ".join(name.split()[1] for name in _family(HOOK))
        raise _bad_input(
            f"dos hook needs the name of an event: {events}",
            "For example: dos hook stop --dialect codex < event.json",
        )
    print_stderr(f"error: dos {word} needs a second word\n{family_page(word)}".rstrip("\n"))
    return 2


def _report(error: Exception) -> int:
    """Print an error with its hint and return its exit code; 70 for a bug in dos."""
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
    frame = traceback.extract_tb(error.__traceback__)[-1]
    name = type(error).__name__
    print_stderr(f"error: bug in dos: {name}: {error} ({frame.filename}:{frame.lineno})")
    print_stderr("  hint: Run it again with DOS_TRACEBACK=1 and report the output.")
    return BUG


def _make_streams_safe() -> None:
    """Replace characters that the encoding of the terminal lacks, instead of raising.

    A stream that the caller closed is opened on /dev/null.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            import os

            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        elif hasattr(stream, "reconfigure"):
            is_utf8 = (stream.encoding or "").lower().replace("-", "") == "utf8"
            stream.reconfigure(errors="replace" if is_utf8 else "backslashreplace")
