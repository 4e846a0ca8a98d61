"""Completion scripts for the shells, made from the table of verbs and what their modules say."""

from shlex import quote

from dos.cli.main import GLOBAL_FLAGS
from dos.verbs import catalog
from dos.verbs.args import Field
from dos.verbs.table import VERBS, Verb

LANES = "@lanes"  # in a list of words: whatever lanes the workspace has
SHELLS = ("bash", "zsh", "fish")

# Words are compared one by one: `compgen -W` would run what stands in them, and lanes are named by a file.
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
    if shell == "fish":
        return _fish()
    text = _bash()
    if shell == "zsh":
        head = '# Completion of dos for zsh. In ~/.zshrc:  eval "$(dos completion zsh)"\n'
        load = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"
        text = head + load + text.partition("\n")[2]
    return text


def _bash() -> str:
    two_words = [name for name in VERBS if " " in name]
    parts = {
        "GLOBALS_WITH_VALUE": "|".join(flag for flag, takes in GLOBAL_FLAGS.items() if takes),
        "GLOBALS": " ".join(
            flag for flag in GLOBAL_FLAGS if flag not in ("--driver", "--job", "-h")
        ),
        "TWO_WORDS": "|".join(f'"{name}"' for name in two_words) or '"-"',
        "FIRST": " ".join(dict.fromkeys(name.split()[0] for name in VERBS)),
        "VALUES": "\n".join(_value_lines()),
        "FLAGS": "\n".join(
            f'                    "{verb.name}") list="{" ".join(_flags(verb))} $list" ;;'
            for verb in VERBS.values()
        ),
        "POSITIONALS": "\n".join(_positional_lines()),
        "LANES": LANES,
    }
    made = _BASH
    for name, value in parts.items():
        made = made.replace(f"@{name}@", value)
    return made


def _flags(verb: Verb) -> list[str]:
    return [
        flag
        for field in catalog.arguments(verb)
        if not field.option.positional
        for flag in _spellings(field)
    ]


def _spellings(field: Field) -> list[str]:
    return [field.flag, *field.option.flags]


def _value_lines() -> list[str]:
    """For a flag that takes one of a few words, or a lane."""
    lines = []
    for verb in VERBS.values():
        for field in catalog.arguments(verb):
            words = _words(field)
            if words and not field.option.positional:
                keys = "|".join(f'"{verb.name}|{flag}"' for flag in _spellings(field))
                lines.append(f'        {keys}) list="{words}" ;;')
    return lines


def _positional_lines() -> list[str]:
    lines = [
        f'                    "{first}") list="{second}" ;;'
        for first, second in _families().items()
    ]
    for verb in VERBS.values():
        standing = [field for field in catalog.arguments(verb) if field.option.positional]
        found = " ".join(words for field in standing if (words := _words(field)))
        if found:
            lines.append(f'                    "{verb.name}") list="{found}" ;;')
    return lines


def _families() -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for name in VERBS:
        first, _, second = name.partition(" ")
        if second:
            found.setdefault(first, []).append(second)
    return {first: " ".join(seconds) for first, seconds in found.items()}


def _words(field: Field) -> str:
    """What may stand there; empty when only its writer knows."""
    if field.option.choices:
        return " ".join(choice for choice in field.option.choices if choice)
    verbs = " ".join(dict.fromkeys(word for name in VERBS for word in name.split()))
    return {"lane": LANES, "verb": verbs, "section": f"lane wedge {verbs}"}.get(field.name, "")


_FISH_HEAD = """# Completion of dos for fish. Once:  dos completion fish > ~/.config/fish/completions/dos.fish
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
complete -c dos -l workspace -xa '(__fish_complete_directories)' -d 'another workspace than the one around you'
complete -c dos -l json -d 'one JSON document instead of text'
complete -c dos -l output -xa 'text json plain' -d 'how the answer is written'
complete -c dos -l pretty -d 'JSON on many lines'
complete -c dos -l explain -d 'also say what to do next'
complete -c dos -l lenient -d 'show what a dos.toml with errors still says'
complete -c dos -l help -d 'what it takes and what its exit codes mean'
"""


def _fish() -> str:
    lines = []
    families = _families()
    for name, verb in VERBS.items():
        first, _, second = name.partition(" ")
        if not second:
            lines.append(f"complete -c dos -n '__dos_at 0' -a {first} -d {quote(verb.summary)}")
        else:
            here = quote(f"__dos_at 1; and __dos_is {first}")
            lines.append(f"complete -c dos -n {here} -a {second} -d {quote(verb.summary)}")
        for field in catalog.arguments(verb):
            lines.append(_fish_line(verb, field))
    lines += [
        f"complete -c dos -n '__dos_at 0' -a {first} -d {quote(second)}"
        for first, second in families.items()
    ]
    return _FISH_HEAD + "\n".join(line for line in lines if line) + "\n"


def _fish_line(verb: Verb, field: Field) -> str:
    condition = f'__dos_is "{verb.name}"'
    here = f"complete -c dos -n {quote(condition)}"
    words = _words(field).replace(LANES, "(dos completion lanes 2>/dev/null)")
    given = f" -xa {quote(words)}" if words else " -r"
    if field.option.positional:
        return f"{here} -a {quote(words)}" if words else ""
    takes = "" if field.type is bool else given
    return f"{here} -l {field.flag[2:]}{takes} -d {quote(field.option.help)}"
