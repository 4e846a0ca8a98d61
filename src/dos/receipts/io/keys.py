"""Makes the runner's key: outside of every work tree, for its owner's eyes only, and never over another one."""

import binascii
import os
import re
import secrets
import shlex
import stat
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from dos.errors import BadInput
from dos.machine import process
from dos.receipts.receipt import NAMESPACE
from dos.text import LONGEST_PATH, quote
from dos.workspace import Workspace

PLAIN = "ssh-ed25519"
IN_A_TOKEN = "sk-ssh-ed25519@openssh.com"  # the private half never leaves the device
KINDS = (PLAIN, IN_A_TOKEN)
OTHER_KINDS = ("ssh-rsa", "ssh-dss", "ecdsa-sha2-", "sk-ecdsa-", "rsa-sha2-")
MAKE_ONE = "Make one: dos receipt-key make"
LARGEST_BYTES = 1_000_000
INSTALL = "pip install 'dispatch-os[receipts]'"
_SHARED = 0o077  # what may be done by others than the owner
_WORD = re.compile(r'(?:[^\s"]|"[^"]*")+')
_NAMESPACES = re.compile(r'namespaces="([^"]*)"', re.IGNORECASE)


class PublicKey(Struct, frozen=True, kw_only=True):
    kind: str
    blob: str  # base64, as in the files of ssh

    @property
    def key_id(self) -> str:
        """The fingerprint that `ssh-keygen -l` shows."""
        return "SHA256:" + b64encode(sha256(b64decode(self.blob)).digest()).decode().rstrip("=")

    @property
    def raw(self) -> bytes:
        """The 32 bytes of a plain key."""
        return b64decode(self.blob)[-32:]

    @property
    def line(self) -> str:
        return f"{self.kind} {self.blob}"


def cryptography_installed() -> bool:
    """Without loading it, which takes a while."""
    from importlib.util import find_spec

    return find_spec("cryptography") is not None


def cryptography_missing() -> BadInput:
    return BadInput(
        "Ed25519 signatures need the package `cryptography`, which is not installed", hint=INSTALL
    )


def config_folder() -> Path:
    """The user's own, in no repository."""
    try:
        home = os.environ.get("XDG_CONFIG_HOME") or str(Path("~/.config").expanduser())
    except RuntimeError as error:
        raise BadInput(
            f"there is no home directory: {error}", hint="export XDG_CONFIG_HOME=/some/where"
        ) from error
    return Path(home) / "dos"


def own_key() -> Path:
    """The file of the key that this runner signs with, whether it is there or not."""
    if named := os.environ.get("DOS_RECEIPT_KEY"):
        return Path(named)
    if named := os.environ.get("DOS_ATTEST_KEY"):
        # It may be a secret of the released kind: what is in it is shown to nobody.
        if "\0" in named or not os.path.lexists(named):
            raise BadInput(
                "$DOS_ATTEST_KEY is not the path of a key file; a secret that is shared signs no receipt any more",
                hint="unset DOS_ATTEST_KEY; dos receipt-key make",
            )
        return Path(named)
    return config_folder() / "receipt-key"


def public_path(private: Path) -> Path:
    """Where the public half of a key lies."""
    return private if private.suffix == ".pub" else Path(f"{private}.pub")


def check_private_key(path: Path, workspace: Workspace) -> None:
    """An error unless the key is there, its owner's alone, and out of the reach of those who are judged."""
    try:
        found, mode = path.resolve(strict=True), path.stat().st_mode
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "that is no path"
        raise BadInput(
            f"there is no key at {quote(str(path), LONGEST_PATH)}: {why}", hint=MAKE_ONE
        ) from error
    if not stat.S_ISREG(mode):
        raise BadInput(f"the key {quote(str(path), LONGEST_PATH)} is not a file", hint=MAKE_ONE)
    for tree in (workspace.root, workspace.tree, *([workspace.common] if workspace.common else [])):
        if found.is_relative_to(tree.resolve()):
            home = shlex.quote(str(config_folder()))
            raise BadInput(
                f"the key {path} lies in {tree}, where those who are judged can read it",
                hint=f"mkdir -p {home} && mv -n {shlex.quote(str(path))} {home}/receipt-key",
            )
    if path.suffix != ".pub" and mode & _SHARED:
        raise BadInput(
            f"others than its owner may read the key {path}, so it proves nothing",
            hint=f"chmod 600 {shlex.quote(str(path))}",
        )


def trusted_keys(key_file: str = "") -> list[PublicKey]:
    """The keys of a file that the caller names; else the user's trusted ones, and this runner's own."""
    if key_file:
        return read_public_keys(Path(key_file))
    listed = config_folder() / "trusted-keys"
    found = read_public_keys(listed) if listed.exists() else []
    own = public_path(own_key())
    return list(dict.fromkeys([*found, *(read_public_keys(own) if own.exists() else [])]))


def read_public_keys(path: Path) -> list[PublicKey]:
    """The keys of a file: lines as in `id_ed25519.pub`, or as in a file of allowed signers."""
    text = _text(path)
    if "PRIVATE KEY-----" in text:
        public = public_path(path)
        if not public.exists():
            raise BadInput(
                f"{path} is a private key, and {public.name} is not beside it",
                hint=f"ssh-keygen -y -f {shlex.quote(str(path))} > {shlex.quote(str(public))}",
            )
        text = _text(public)
    found = list(_keys(text, path))
    if not found:
        raise BadInput(f"there is no public key in {quote(str(path), LONGEST_PATH)}", hint=MAKE_ONE)
    return found


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_BYTES)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "that is no path"
        raise BadInput(
            f"the key file {quote(str(path), LONGEST_PATH)} cannot be read: {why}",
            hint=f"{MAKE_ONE}, or name another.",
        ) from error
    return data.decode("utf-8", "replace")


def _keys(text: str, path: Path) -> Iterator[PublicKey]:
    for number, line in enumerate(text.splitlines(), 1):
        words = _WORD.findall(line)
        if not words or words[0].startswith("#"):
            continue
        where = f"{path}:{number}"
        at = next((place for place, word in enumerate(words[:3]) if word in KINDS), None)
        if at is None or at + 1 >= len(words):
            if any(word.startswith(OTHER_KINDS) for word in words[:3]):
                raise BadInput(
                    f"{where}: only Ed25519 keys are used for receipts",
                    hint="ssh-keygen -t ed25519",
                )
            raise BadInput(
                f"{where}: this is no line with a public key: {quote(line)}",
                hint=f"A line is `{PLAIN} AAAA… comment`, or the same with a name before it. {MAKE_ONE}",
            )
        if at < 2 or _is_for_receipts(words[1], where):
            yield parse_public_key(words[at], words[at + 1], where)


def _is_for_receipts(options: str, where: str) -> bool:
    """A limit that is not understood is not overlooked."""
    if found := _NAMESPACES.fullmatch(options):
        return NAMESPACE in found[1].split(",")
    raise BadInput(
        f"{where}: the options {quote(options)} are not understood",
        hint=f'Only namespaces="{NAMESPACE}".',
    )


def parse_public_key(kind: str, blob: str, where: str) -> PublicKey:
    try:
        raw = b64decode(blob, validate=True)
    except binascii.Error:
        raw = b""
    named = len(kind).to_bytes(4, "big") + kind.encode()
    whole = len(raw) == len(named) + 36 if kind == PLAIN else len(raw) > len(named) + 36
    if (
        not raw.startswith(named + (32).to_bytes(4, "big"))
        or not whole
        or b64encode(raw).decode() != blob
    ):
        raise BadInput(
            f"{where}: the key is damaged: {quote(blob)}", hint="Copy the line again, whole."
        )
    return PublicKey(kind=kind, blob=blob)


ELSEWHERE = "Name another place with --out; `dos receipt-key show` says what is there."


def make_key(path: Path) -> PublicKey:
    """A new key and, beside it, its public half; an error where there is one already."""
    private, line = _generate()
    public = public_path(path)
    try:
        if public == path or (public.exists() and not path.exists()):
            raise BadInput(
                f"{_quoted(public)} is there, and belongs to another key", hint=ELSEWHERE
            )
        if path.parent in (
            config_folder(),
            own_key().parent,
        ):  # another place is its owner's to make
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _place(path, private, 0o600)
    except FileExistsError as error:
        raise BadInput(
            f"{_quoted(path)} is there already, and is not overwritten", hint=ELSEWHERE
        ) from error
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "that is no path"
        raise BadInput(
            f"no key can be written to {_quoted(path)}: {why}", hint=ELSEWHERE
        ) from error
    write_public_key(path, line)
    return read_public_keys(public)[0]


def write_public_key(path: Path, line: str) -> None:
    """Lay the public half beside a key that has none."""
    public = public_path(path)
    with suppress(FileExistsError):  # somebody else did
        _place(public, f"{line} dos@{process.host()}\n".encode(), 0o644)


def ensure_key(path: Path) -> bool:
    """Whether the key had to be made: of several that need one at once, one makes it."""
    if path.exists():
        return False
    try:
        make_key(path)
    except BadInput:
        if not path.exists():
            raise
        return False
    return True


def _quoted(path: Path) -> str:
    return quote(str(path), LONGEST_PATH)


def _generate() -> tuple[bytes, str]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError as error:
        raise cryptography_missing() from error
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.OpenSSH,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    )
    return private, public.decode()


def _place(path: Path, data: bytes, mode: int) -> None:
    """Whole or not at all, and only where nothing is."""
    half = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.link(half, path)
    finally:
        half.unlink()
