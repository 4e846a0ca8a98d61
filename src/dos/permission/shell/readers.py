"""Programs that only read, and those that do unless an option says otherwise."""

import re
from collections.abc import Callable, Sequence

from msgspec import structs

from dos.permission.shell.effect import Effect, unknown
from dos.permission.shell.name_table import name_table
from dos.permission.shell.options import parse
from dos.permission.shell.syntax.tokens import Word
from dos.verbs.listing.commands import effect_of
from dos.verbs.listing.effects import CHANGES

Program = Callable[[Sequence[Word]], Effect]
_OPTION = "an option of it writes a file or runs a program"

# They write nothing, whatever their options are, except where they are sent.
READERS = name_table("""
    : [ [[ base32 basename break cat cd cksum clear cmp comm complete continue cut declare df diff
    dir dirname du echo egrep eza exa exit expand export expr false fgrep fmt fold free getconf
    getent getopt getopts grep groups head help hexdump id ioctl jq kill last let local locale ls
    lsblk lscpu md5sum mdfind nl nproc numfmt od paste pgrep popd printenv printf
    ps pushd pwd read readlink readonly realpath return rev seq set sha1sum sha224sum
    sha256sum sha384sum sha512sum shift shopt sleep stat stty sum tac tail test times
    tokei tput tr true tsort tty type typeset ulimit umask unalias uname unexpand unset uptime
    users vmstat w wait wc whereis which who whoami yes zcat zgrep
    """)
# They write no file, and yet they do something: to processes, to leases, or on other machines. What
# is asked of a network is told to it, so that no request to another machine is without an effect.
ACTS = name_table("curl dos exit getent kill ping rsync scp stty wget xmllint")


def _unless(letters: str, *names: str, values: str = "") -> Program:
    """A program that reads unless one of these options is given; `values`: letters with a value."""

    def read(words: Sequence[Word]) -> Effect:
        found = parse(words, values)
        if found.has(*letters, *names):
            return unknown(_OPTION)
        return Effect()

    return read


def _only(
    letters: str, names: str = "", *, values: str = "", valued: str = "", prefixes: str = ""
) -> Program:
    """A program that reads when it is given no options but these.

    `values` and `valued` are options with a value. A word that begins with one of the `prefixes`
    is none of its operands, but says what to do.
    """

    def read(words: Sequence[Word]) -> Effect:
        found = parse(words, values, valued.split(), flags=names.split())
        is_told = any(word.text.startswith(tuple(prefixes)) for word in words if prefixes)
        if is_told or not found.has_only(letters + values, (*names.split(), *valued.split())):
            return unknown(_OPTION)
        return Effect()

    return read


def _lists(*allowed: str) -> Program:
    """A program that reads when it is given nothing, or one of these options and nothing else."""

    def read(words: Sequence[Word]) -> Effect:
        if not words or (len(words) == 1 and words[0].text in allowed):
            return Effect()
        return unknown("a command of it changes what others do")

    return read


def _shows_pages(words: Sequence[Word]) -> Effect:
    """`bat` reads but for its commands, of which one writes a cache."""
    if words and words[0].text == "cache":
        return unknown(_OPTION)
    return _BAT(words)


def _calls_dos(words: Sequence[Word]) -> Effect:
    """What the table of verbs says of a command of dos."""
    if effect_of([word.text for word in words]) != CHANGES:
        return Effect()
    return unknown("a command of it can write files")


def _binary(words: Sequence[Word]) -> Effect:
    """A program for binaries, which takes further options from the file that `@FILE` names."""
    if any(word.text.startswith("@") for word in words):
        return unknown(_OPTION)
    return _unless("", "plugin")(words)


def _queries(words: Sequence[Word]) -> Effect:
    """`xmllint` takes long names also after one dash."""
    double = [
        structs.replace(word, text=f"-{word.text}") if _ONE_DASH.match(word.text) else word
        for word in words
    ]
    return _XMLLINT(double)


_ONE_DASH = re.compile(r"-[A-Za-z]{2}")
_BAT = _only(
    "pnAHPufdSL",
    "plain number show-all diff squeeze-blank list-themes list-languages help version",
    values="lrm",
    valued="style color theme language line-range paging decorations wrap tabs file-name"
    " highlight-line terminal-width",
)  # fmt: skip
_XMLLINT = _only(
    "", "noout format html recover huge valid nonet noblanks nocdata noent quiet version",
    valued="xpath schema dtdvalid relaxng pretty encode",
)  # fmt: skip
_PAGED = _only("NRSFXEeiIMmnsqr0123456789", prefixes="+")
UNLESS: dict[str, Program] = {
    "alias": _lists("-p"),
    "base64": _unless("o", "output"),
    "bat": _shows_pages,
    "column": _unless("o"),
    "date": _unless("s", "set"),
    "dos": _calls_dos,
    "fd": _unless("xX", "exec", "exec-batch", values="deEtjScoC"),
    "file": _unless("C", "compile", values="Ffme"),
    "hash": _lists("-r", "-l"),
    "history": _unless("wars"),
    "hostname": _lists("-f", "-s", "-i", "-I", "-d"),
    "jobs": _unless("x"),
    "less": _PAGED,
    "lsof": _unless("D"),
    "man": _only("kfwWaK", "apropos whatis where path all", values="sS"),
    "mapfile": _unless("C"),
    "more": _PAGED,
    "nm": _binary,
    "objdump": _binary,
    "ping": _unless(""),
    "readarray": _unless("C"),
    "readelf": _binary,
    "rg": _unless("", "pre", "hostname-bin", values="ABCEefgjmMrtT"),
    "shuf": _unless("o", "output", values="n"),
    "size": _binary,
    "strings": _binary,
    "top": _unless("w"),
    "tree": _unless("oR", values="LPIH"),
    "whatis": _only("dvrwl", "regex wildcard long help version", values="s"),
    "xmllint": _queries,
    "zless": _PAGED,
}
