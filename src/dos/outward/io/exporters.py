"""The transports of `dos export`. None of them raises: what went wrong is in their answer."""

import os
import socket
import stat
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from dos import plugins
from dos.errors import BadInput
from dos.outward.export import Shipped, json_lines, statsd_datagrams
from dos.outward.verdicts import VerdictRecord
from dos.text import did_you_mean, plural, quote
from dos.unknown import Unknown, call_or_unknown

NULL = "null"
GROUP = "dos.exporters"
STATSD_PORT = 8125
HIGHEST_PORT = 65_535


class Exporter(Protocol):
    """Ships records somewhere, all of a batch or as many as it says."""

    def export(self, records: Sequence[VerdictRecord]) -> Shipped: ...


class Options(Struct, frozen=True, kw_only=True):
    """What the command line says about a transport; the environment has the defaults."""

    root: Path
    path: str = ""
    host: str = ""
    port: int | None = None
    endpoint: str = ""


class NullExporter:
    """Takes every record and sends it nowhere."""

    def export(self, records: Sequence[VerdictRecord]) -> Shipped:
        return Shipped(exported=len(records), detail="nothing is sent")


class FileExporter:
    """Appends JSON lines to a file, and returns when the disk has them."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def export(self, records: Sequence[VerdictRecord]) -> Shipped:
        """Append the records. A line that was cut off by a crash is ended first."""
        try:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
            descriptor = os.open(self._path, flags | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "r+b", buffering=0) as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode):
                    return Shipped(exported=0, detail=f"{self._path} is not a file")
                content = json_lines(records)
                if status.st_size and os.pread(file.fileno(), 1, status.st_size - 1) != b"\n":
                    content = b"\n" + content
                _write_all(file.fileno(), content)
                os.fsync(file.fileno())
        except OSError as error:
            return Shipped(exported=0, detail=f"{self._path}: {error.strerror}")
        events = plural(len(records), "event")
        return Shipped(exported=len(records), detail=f"appended {events} to {self._path}")


class StatsdExporter:
    """Sends one UDP datagram for each pair of a verb and a verdict; nobody acknowledges it."""

    def __init__(self, host: str, port: int) -> None:
        self._host = host
        self._port = port

    def export(self, records: Sequence[VerdictRecord]) -> Shipped:
        where = f"{self._host}:{self._port}"
        try:
            found = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_DGRAM)
            family, kind, protocol, _, address = found[0]
            datagrams = statsd_datagrams(records)
            with socket.socket(family, kind, protocol) as sender:
                for datagram in datagrams:
                    sender.sendto(datagram, address)
        except (OSError, UnicodeError) as error:
            return Shipped(exported=0, detail=f"{where}: {error}")
        return Shipped(
            exported=len(records), detail=f"sent {plural(len(datagrams), 'datagram')} to {where}"
        )


class PluginExporter:
    """A transport of another package, called so that nothing that it does ends the verb."""

    def __init__(self, name: str, plugin: object) -> None:
        self._name = name
        self._plugin = plugin

    def export(self, records: Sequence[VerdictRecord]) -> Shipped:
        """Count a batch as shipped where the plugin says how many it took, or says nothing."""
        function = getattr(self._plugin, "export", None)
        if not callable(function):
            return Shipped(exported=0, detail=f"the plugin {self._name} has no function export")
        answer = call_or_unknown(lambda: function(list(records)))
        if isinstance(answer, Unknown):
            return Shipped(exported=0, detail=f"the plugin {self._name} raised {answer.why}")
        exported = getattr(answer, "exported", answer)
        if exported is None or exported is True:
            exported = len(records)
        if not isinstance(exported, int) or not 0 <= exported <= len(records):
            return Shipped(exported=0, detail=f"the plugin {self._name} did not say how many")
        detail = getattr(answer, "detail", "")
        return Shipped(exported=int(exported), detail=str(detail)[:300])


def open_exporter(name: str, options: Options) -> Exporter:
    """Return the transport of a name. Raises BadInput for an unknown one and for bad options."""
    own: dict[str, Callable[[], Exporter]] = {
        NULL: NullExporter,
        "file": partial(_file, options),
        "statsd": partial(_statsd, options),
        "otlp": partial(_otlp, options),
    }
    if name in own:
        return own[name]()
    known = [*own, *plugins.installed_names(GROUP)]
    if name not in known:
        raise BadInput(
            f"unknown exporter {quote(name)}; {did_you_mean(name, known, 'exporters')}",
            hint=f"Use one of: {', '.join(known)}.",
        )
    given = {"path": options.path, "host": options.host, "port": options.port}
    given["endpoint"] = options.endpoint
    return PluginExporter(name, plugins.create(GROUP, name, given))


def _file(options: Options) -> Exporter:
    named = options.path or os.environ.get("DOS_EXPORT_FILE", "")
    if not named.strip() or "\0" in named:
        raise BadInput(
            "the exporter `file` needs a path", hint="Add --path FILE, or set $DOS_EXPORT_FILE."
        )
    return FileExporter(options.root / named)


def _statsd(options: Options) -> Exporter:
    host = options.host or os.environ.get("DOS_STATSD_HOST") or "127.0.0.1"
    port = options.port
    if port is None:
        word = os.environ.get("DOS_STATSD_PORT") or str(STATSD_PORT)
        port = int(word) if word.isascii() and word.isdecimal() and len(word) < 6 else -1
    if not 0 < port <= HIGHEST_PORT:
        raise BadInput(
            f"the port of the exporter `statsd` is not between 1 and {HIGHEST_PORT}",
            hint="Give --port, or set $DOS_STATSD_PORT.",
        )
    return StatsdExporter(host, port)


def _otlp(options: Options) -> Exporter:
    from dos.outward.io.otlp import open_otlp  # its packages are an extra, and slow to import

    return open_otlp(options.endpoint)


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
