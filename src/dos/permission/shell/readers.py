"""Programs that only read, and those that do unless an option says otherwise."""

from collections.abc import Callable, Sequence

from dos.permission.shell.effect import Effect, unknown
from dos.permission.shell.name_table import name_table
from dos.permission.shell.options import parse
from dos.permission.shell.syntax.tokens import Word

Program = Callable[[Sequence[Word]], Effect]

# They write nothing, whatever their options are, except where they are sent.
READERS = name_table("""
    : [ [[ base32 basename break cat cd cksum clear cmp comm complete continue cut declare df diff
    dir dirname du echo egrep eza exa exit expand export expr false fgrep fmt fold free getconf
    getent getopt getopts grep groups head help hexdump id ioctl jq kill last let local locale ls
    lsblk lscpu lsof md5sum mdfind nl nm nproc numfmt objdump od paste pgrep popd printenv printf
    ps pushd pwd read readelf readlink readonly realpath return rev seq set sha1sum sha224sum
    sha256sum sha384sum sha512sum shift shopt size sleep stat strings stty sum tac tail test times
    tokei tput tr true tsort tty type typeset ulimit umask unalias uname unexpand unset uptime
    users vmstat w wait wc whatis whereis which who whoami yes zcat zgrep
    """)
# They write no file, and yet they do something: to processes, to leases, or on other machines.
ACTS = name_table("curl dos exit kill ping rsync scp stty wget xmllint")

# Verbs of dos that read, or take and give back a lane; others may write files.
_VERBS = name_table("""
    doctor lane lease-lane plan verify status why top decisions report helped log logs costs wait
    whoami lint exit-codes fleet runs
    """)


def _unless(letters: str, *names: str, values: str = "") -> Program:
    """A program that reads unless one of these options is given; `values`: letters with a value."""

    def read(words: Sequence[Word]) -> Effect:
        found = parse(words, values)
        if found.has(*letters, *names):
            return unknown("an option of it writes a file or runs a program")
        return Effect()

    return read


def _first_is(*allowed: str) -> Program:
    """A program that reads when its first word is one of these, or when it has none."""

    def read(words: Sequence[Word]) -> Effect:
        if not words or words[0].text in allowed:
            return Effect()
        return unknown("a command of it can write files")

    return read


UNLESS: dict[str, Program] = {
    "alias": _first_is("-p"),
    "base64": _unless("o", "output"),
    "bat": _unless("", "pager", "cache-dir"),
    "column": _unless("o"),
    "date": _unless("s", "set"),
    "dos": _first_is(*sorted(_VERBS)),
    "fd": _unless("xX", "exec", "exec-batch", values="egEtdjS"),
    "file": _unless("C", "compile", values="Ffme"),
    "hash": _unless("p"),
    "history": _unless("wars"),
    "hostname": _first_is("-f", "-s", "-i", "-I", "-d"),
    "jobs": _unless("x"),
    "less": _unless("oO", "log-file", "LOG-FILE"),
    "man": _unless("PH", "pager", "html"),
    "mapfile": _unless("C"),
    "more": _unless(""),
    "ping": _unless(""),
    "readarray": _unless("C"),
    "rg": _unless("", "pre", "hostname-bin", values="ABCEefgjmMrtT"),
    "shuf": _unless("o", "output", values="n"),
    "top": _unless("w"),
    "tree": _unless("oR", values="LPIH"),
    "xmllint": _unless("o", "output", "shell"),
    "zless": _unless("oO"),
}
