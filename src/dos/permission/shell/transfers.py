"""What programs write that copy from and to other machines."""

import re
from collections.abc import Sequence

from dos.permission.shell.effect import Effect, unknown
from dos.permission.shell.name_table import name_table
from dos.permission.shell.options import parse
from dos.permission.shell.readers import Program
from dos.permission.shell.syntax.tokens import Word

_REMOTE = re.compile(r"^[^/]*:")
_RSYNC_PLACES = ("log-file", "backup-dir", "partial-dir", "temp-dir")
_RSYNC_VALUES = name_table("""
    exclude include filter files-from chmod out-format exclude-from include-from link-dest max-size
    min-size bwlimit timeout info
    """)
_RSYNC_FLAGS = name_table("""
    archive verbose compress human-readable recursive dry-run progress stats update checksum
    delete delete-after delete-before delete-during delete-excluded ignore-existing existing
    size-only links perms times quiet itemize-changes prune-empty-dirs relative partial
    remove-source-files no-perms no-owner no-group omit-dir-times copy-links safe-links
    """)
_CURL_WRITES = (
    *("output", "cookie-jar", "dump-header", "trace", "trace-ascii", "stderr"),
    *("etag-save", "libcurl", "hsts", "alt-svc"),
)
_CURL_VALUES = name_table("""
    header data data-raw data-binary data-urlencode json request user url url-query max-time
    connect-timeout retry retry-delay retry-max-time user-agent referer cookie form form-string
    proxy noproxy resolve cacert cert key write-out max-redirs etag-compare range limit-rate
    oauth2-bearer unix-socket
    """)
_CURL_FLAGS = name_table("""
    silent show-error fail fail-with-body location insecure include head retry-all-errors
    retry-connrefused compressed get http1.0 http1.1 http2 http3 ipv4 ipv6 tlsv1.2 tlsv1.3 verbose
    no-buffer no-progress-meter progress-bar globoff path-as-is basic digest next create-dirs
    parallel disable version help
    """)
_CURL_LETTERS = "sSLfkivIgGjnN#q0123456:ZVh"
_WGET_WRITES = ("output-file", "append-output", "rejected-log")
_WGET_VALUES = name_table("""
    output-document directory-prefix timeout tries header user-agent post-data method body-data
    max-redirect wait
    """)
_WGET_FLAGS = name_table("""
    quiet no-verbose verbose show-progress no-check-certificate content-on-error server-response
    no-cache https-only no-hsts no-config
    """)


def _syncs(words: Sequence[Word]) -> Effect:
    """`rsync` writes to its last operand, unless it is on another machine."""
    valued = (*_RSYNC_PLACES, *_RSYNC_VALUES)
    found = parse(words, "efTBM", (*valued, "rsh", "rsync-path"), flags=_RSYNC_FLAGS)
    effect = Effect(writes=found.all_values("T", *_RSYNC_PLACES))
    if not found.has_only("avzhrlptgoDPnuiqxHAXESWcdkKLRmI0fTB", (*valued, *_RSYNC_FLAGS)):
        effect.unknown = "an option of it runs a program or writes more files"
    target = found.operands[-1:] if len(found.operands) > 1 else found.patterns
    effect.writes += [word for word in target if not _REMOTE.match(word.text)]
    if found.has("remove-source-files"):
        effect.writes += found.operands[:-1]
    return effect


def _copies_remotely(words: Sequence[Word]) -> Effect:
    """`scp` writes to its last operand, unless it is on another machine."""
    found = parse(words, "cDFiJloPSX")
    effect = unknown("scp runs a program")
    effect.writes = [word for word in found.operands[-1:] if not _REMOTE.match(word.text)]
    return effect


def _curl(words: Sequence[Word]) -> Effect:
    values = "AbBcdDeEFHmortuUwxXyYz"
    valued = (*_CURL_WRITES, *_CURL_VALUES)
    found = parse(words, values, (*valued, "output-dir"), flags=_CURL_FLAGS)
    effect = Effect()
    for word in found.all_values("o", "c", "D", *_CURL_WRITES):
        if word.text != "-":
            effect.writes.append(word)
    formats = [word.text for word in found.all_values("w", "write-out")]
    if any("%output" in text or text.startswith("@") for text in formats):
        effect.unknown = "what is printed names files"
    if any("#" in word.text for word in effect.writes):
        effect.unknown = "a part of the address names the written file"
    if not found.has_only(_CURL_LETTERS + values, (*valued, *_CURL_FLAGS)):
        effect.unknown = "an option of it writes a file or runs a program"
    return effect


def _wget(words: Sequence[Word]) -> Effect:
    valued = (*_WGET_WRITES, *_WGET_VALUES)
    found = parse(words, "OoPaieUtT", valued, flags=_WGET_FLAGS)
    effect = unknown("the name of the downloaded file is not known")
    target = found.value("O", "output-document")
    if target is not None:
        effect = Effect(writes=[] if target.text == "-" else [target])
    elif folder := found.value("P", "directory-prefix"):
        effect = Effect(writes=[folder])
    effect.writes += found.all_values("o", "a", *_WGET_WRITES)
    if not found.has_only("qvncSdOoPaUtT46", (*valued, *_WGET_FLAGS)):
        effect.unknown = "an option of it writes more files"
    return effect


TRANSFERS: dict[str, Program] = {
    "rsync": _syncs,
    "scp": _copies_remotely,
    "curl": _curl,
    "wget": _wget,
}
