"""Print the completion script of a shell.

It completes verbs, options and the names of lanes.
bash: eval "$(dos completion bash)" in ~/.bashrc. zsh: eval "$(dos completion zsh)" in ~/.zshrc.
fish: dos completion fish > ~/.config/fish/completions/dos.fish.
`dos completion lanes` prints the lanes; the scripts call it.
"""

from shlex import quote
from typing import Annotated

from msgspec import Struct

from dos.cli.help import GLOBAL_OPTIONS
from dos.verbs import lookup
from dos.verbs.args import Field, Option
from dos.verbs.context import Context, Reply
from dos.verbs.listing.commands import GLOBAL_FLAGS
from dos.verbs.listing.table import VERBS
from dos.verbs.listing.verb import Verb

EXITS = {"shown": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """What to print the completion script for."""

    what: Annotated[
        str, Option(help="the shell", positional=True, choices=("bash", "zsh", "fish", "lanes"))
    ]


def run(args: Args, context: Context) -> Reply:
    """Return the script of a shell, or the names of the lanes."""
    if args.what == "lanes":
        lanes = context.world.config.known_lanes()
        return Reply(text="\n".join(lanes), data={"lanes": lanes})

    text = script(args.what)
    return Reply(text=text, data={"shell": args.what, "script": text})


LANES = "@lanes"  # in a list of words, stands for the lanes of the workspace
HIDDEN_FLAGS = ("--driver", "--job", "-h")

# Words are compared one by one: `compgen -W` would expand commands in them, and a file names lanes.
_BASH = r"""# Completion of dos for bash. In ~/.bashrc:  eval "$(dos completion bash)"
_dos() {
    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"
    local verb="" first="" word="" skip="" list="" i=1
    COMPREPLY=()
    while [ "$i" -lt "$COMP_CWORD" ]; do
        word="${COMP_WORDS[i]}"
        i=$((i + 1))
        if [ -n "$skip" ]; then skip=""; continue; fi
        case "$word" in
            @GLOBALS_WITH_VALUE@) skip=yes ;;
            -*) ;;
            *)
                if [ -z "$first" ]; then
                    first="$word"; verb="$word"
                elif [ "$verb" = "$first" ]; then
                    case "$first $word" in
                        @TWO_WORDS@) verb="$first $word" ;;
                    esac
                fi ;;
        esac
    done
    case "$verb|$prev" in
@VALUES@
        "man|lane") list="@LANES@" ;;
        *"|--output") list="text json plain" ;;
        *"|--workspace") return ;;
    esac
    if [ -z "$list" ]; then
        case "$cur" in
            -*)
                list="@GLOBALS@"
                case "$verb" in
@FLAGS@
                esac ;;
            *)
                case "$verb" in
                    "") list="@FIRST@" ;;
@POSITIONALS@
                esac ;;
        esac
    fi
    for word in $list; do
        case "$word" in
            @LANES@)
                while IFS= read -r word; do
                    case "$word" in "") ;; "$cur"*) COMPREPLY+=("$(printf '%q' "$word")") ;; esac
                done <<EOF
$(dos completion lanes 2>/dev/null)
EOF
                ;;
            "$cur"*) COMPREPLY+=("$word") ;;
        esac
    done
}
complete -o default -F _dos dos
"""


def script(shell: str) -> str:
    """Return the completion script of bash, zsh or fish.

    All verbs and options are written into it, so that pressing Tab starts no process. Only the
    names of lanes are asked for, because they change: by `dos completion lanes`. zsh runs the
    script of bash.
    """
    if shell == "fish":
        return _fish()
    text = _bash()
    if shell == "zsh":
        head = '# Completion of dos for zsh. In ~/.zshrc:  eval "$(dos completion zsh)"\n'
        load = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"
        text = head + load + text.partition("\n")[2]
    return text


def _bash() -> str:
    """Fill the template of bash, which zsh runs, too."""
    two_words = [f'"{name}"' for name in VERBS if " " in name]
    with_value = [flag for flag, takes_value in GLOBAL_FLAGS.items() if takes_value]
    shown = [flag for flag in GLOBAL_FLAGS if flag not in HIDDEN_FLAGS]
    parts = {
        "GLOBALS_WITH_VALUE": "|".join(with_value),
        "GLOBALS": " ".join(shown),
        "TWO_WORDS": "|".join(two_words) or '"-"',
        "FIRST": " ".join(dict.fromkeys(name.split()[0] for name in VERBS)),
        "VALUES": "\n".join(_value_lines()),
        "FLAGS": "\n".join(_flag_lines()),
        "POSITIONALS": "\n".join(_positional_lines()),
        "LANES": LANES,
    }
    text = _BASH
    for name, value in parts.items():
        text = text.replace(f"@{name}@", value)
    return text


def _flag_lines() -> list[str]:
    """Return a case for each verb: its options."""
    lines = []
    for verb in VERBS.values():
        flags: list[str] = []
        for field in lookup.arguments(verb):
            if not field.option.positional:
                flags += _spellings(field)
        lines.append(f'                    "{verb.name}") list="{" ".join(flags)} $list" ;;')
    return lines


def _spellings(field: Field) -> list[str]:
    """Return an option as it can be typed: its flag, and its other spellings."""
    return [field.flag, *field.option.flags]


def _value_lines() -> list[str]:
    """Return a case for each option that takes one of a few words, or a lane."""
    lines = []
    for verb in VERBS.values():
        for field in lookup.arguments(verb):
            words = _words(field)
            if words and not field.option.positional:
                keys = "|".join(f'"{verb.name}|{flag}"' for flag in _spellings(field))
                lines.append(f'        {keys}) list="{words}" ;;')
    return lines


def _positional_lines() -> list[str]:
    """Return a case for each first word of two, and for each verb with known arguments."""
    lines = []
    for first, seconds in _families().items():
        lines.append(f'                    "{first}") list="{seconds}" ;;')
    for verb in VERBS.values():
        words = []
        for field in lookup.arguments(verb):
            if field.option.positional and _words(field):
                words.append(_words(field))
        if words:
            lines.append(f'                    "{verb.name}") list="{" ".join(words)}" ;;')
    return lines


def _families() -> dict[str, str]:
    """Return the second words of the verbs of two words, by the first."""
    families: dict[str, str] = {}
    for name in VERBS:
        first, _, second = name.partition(" ")
        if second:
            families[first] = f"{families.get(first, '')} {second}".lstrip()
    return families


def _words(field: Field) -> str:
    """Return the words that an argument may be; "" where they are not known.

    `LANES` among them stands for the lanes, which the script asks for when Tab is pressed.
    """
    if field.option.choices:
        return " ".join(filter(None, field.option.choices))
    if field.name == "lane":
        return LANES
    if field.name not in ("verb", "section"):
        return ""
    verbs = " ".join(dict.fromkeys(" ".join(VERBS).split()))
    if field.name == "verb":
        return verbs
    return f"lane wedge {verbs}"


_FISH_HEAD = """# Completion of dos for fish. Once:
#   dos completion fish > ~/.config/fish/completions/dos.fish
function __dos_words
    set -l words (commandline -opc)
    set -e words[1]
    string match -v -- '-*' $words
end
function __dos_is
    set -l typed (string join ' ' -- (__dos_words))
    string match -q -- "$argv[1] *" "$typed "
end
function __dos_at
    test (count (__dos_words)) -eq $argv[1]
end
complete -c dos -f
"""


# What completes the value of a global option.
_FISH_VALUES = {
    "--workspace": " -xa '(__fish_complete_directories)'",
    "--output": " -xa 'text json plain'",
}


def _fish() -> str:
    """Return the script of fish, which has one line for each word that can be completed."""
    lines = []
    for option, meaning in {**GLOBAL_OPTIONS, "--help": "show the help of a verb"}.items():
        flag = option.split()[0]
        values = _FISH_VALUES.get(flag, "")
        lines.append(f"complete -c dos -l {flag[2:]}{values} -d {quote(meaning)}")
    for name, verb in VERBS.items():
        first, _, second = name.partition(" ")
        summary = quote(verb.summary)
        if second:
            condition = quote(f"__dos_at 1; and __dos_is {first}")
            lines.append(f"complete -c dos -n {condition} -a {second} -d {summary}")
        else:
            lines.append(f"complete -c dos -n '__dos_at 0' -a {first} -d {summary}")
        for field in lookup.arguments(verb):
            lines.append(_fish_line(verb, field))
    for first, seconds in _families().items():
        lines.append(f"complete -c dos -n '__dos_at 0' -a {first} -d {quote(seconds)}")
    return _FISH_HEAD + "\n".join(filter(None, lines)) + "\n"


def _fish_line(verb: Verb, field: Field) -> str:
    """Return the line for one argument; "" for a positional whose words are not known."""
    condition = quote(f'__dos_is "{verb.name}"')
    start = f"complete -c dos -n {condition}"
    words = _words(field).replace(LANES, "(dos completion lanes 2>/dev/null)")
    if field.option.positional:
        return f"{start} -a {quote(words)}" if words else ""
    values = ""
    if words:
        values = f" -xa {quote(words)}"
    elif field.type is not bool:
        values = " -r"
    return f"{start} -l {field.flag[2:]}{values} -d {quote(field.option.help)}"
