"""The runner's signing key and the public keys that are trusted.

The private key lies outside every work tree, readable by its owner alone, and is never
overwritten. No key is read from a tree that is judged: the agents that are judged can write there.
"""

import binascii
import os
import re
import shlex
import stat
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from dos.errors import BadInput
from dos.machine import filesystem, process
from dos.receipts.receipt import NAMESPACE
from dos.text import LONGEST_PATH, quote
from dos.workspace import Workspace

PLAIN = "ssh-ed25519"
IN_A_TOKEN = "sk-ssh-ed25519@openssh.com"  # the private half never leaves the device
KINDS = (PLAIN, IN_A_TOKEN)
OTHER_KINDS = ("ssh-rsa", "ssh-dss", "ecdsa-sha2-", "sk-ecdsa-", "rsa-sha2-")
MAKE_ONE = "Make one: dos receipt-key make"
ELSEWHERE = "Name another place with --out; `dos receipt-key show` says what is there."
LARGEST_BYTES = 1_000_000
INSTALL = "pip install 'dispatch-os[receipts]'"
_SHARED = 0o077  # permissions of others than the owner
_WORD = re.compile(r'(?:[^\s"]|"[^"]*")+')
_NAMESPACES = re.compile(r'namespaces="([^"]*)"', re.IGNORECASE)


class PublicKey(Struct, frozen=True, kw_only=True):
    """An Ed25519 public key, as ssh writes it."""

    kind: str
    blob: str  # base64, as in the files of ssh

    @property
    def key_id(self) -> str:
        """The fingerprint that `ssh-keygen -l` shows."""
        digest = sha256(b64decode(self.blob)).digest()
        return "SHA256:" + b64encode(digest).decode().rstrip("=")

    @property
    def raw(self) -> bytes:
        """The 32 bytes of a plain key."""
        return b64decode(self.blob)[-32:]

    @property
    def line(self) -> str:
        """The key as a line of a `.pub` file."""
        return f"{self.kind} {self.blob}"


def cryptography_installed() -> bool:
    """Whether `cryptography` is installed, without loading it, which takes a while."""
    from importlib.util import find_spec

    return find_spec("cryptography") is not None


def cryptography_missing() -> BadInput:
    """Return the error for signing or checking without `cryptography`."""
    return BadInput(
        "Ed25519 signatures need the package `cryptography`, which is not installed", hint=INSTALL
    )


def config_folder() -> Path:
    """Return the user's configuration folder of dos, which is in no repository."""
    try:
        home = os.environ.get("XDG_CONFIG_HOME") or str(Path("~/.config").expanduser())
    except RuntimeError as error:
        raise BadInput(
            f"there is no home directory: {error}", hint="export XDG_CONFIG_HOME=/some/where"
        ) from error
    return Path(home) / "dos"


def own_key() -> Path:
    """Return the path of the key that this runner signs with; it need not exist."""
    if named := os.environ.get("DOS_RECEIPT_KEY"):
        return Path(named)
    if named := os.environ.get("DOS_ATTEST_KEY"):
        # It may be a secret of dos-kernel 0.30 or older, so its value is never shown.
        if "\0" in named or not os.path.lexists(named):
            raise BadInput(
                "$DOS_ATTEST_KEY is not the path of a key; shared secrets no longer sign receipts",
                hint="unset DOS_ATTEST_KEY; dos receipt-key make",
            )
        return Path(named)
    return config_folder() / "receipt-key"


def public_path(private: Path) -> Path:
    """Return the path of the public half of a key."""
    if private.suffix == ".pub":
        return private
    return Path(f"{private}.pub")


def check_private_key(path: Path, workspace: Workspace) -> None:
    """Raise BadInput for a key that others could have used, so that it would prove nothing."""
    try:
        resolved = path.resolve(strict=True)
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise BadInput(
            f"there is no key at {_quoted(path)}: {_why(error)}", hint=MAKE_ONE
        ) from error
    if not stat.S_ISREG(mode):
        raise BadInput(f"the key {_quoted(path)} is not a file", hint=MAKE_ONE)
    for tree in (workspace.root, workspace.tree, workspace.common):
        if tree is not None and resolved.is_relative_to(tree.resolve()):
            home = shlex.quote(str(config_folder()))
            raise BadInput(
                f"the key {path} lies in {tree}, where the agents that are judged can read it",
                hint=f"mkdir -p {home} && mv -n {shlex.quote(str(path))} {home}/receipt-key",
            )
    if path.suffix != ".pub" and mode & _SHARED:
        raise BadInput(
            f"others than its owner may read the key {path}, so it proves nothing",
            hint=f"chmod 600 {shlex.quote(str(path))}",
        )


def trusted_keys(key_file: str = "") -> list[PublicKey]:
    """Return the keys of a named file; by default the user's trusted keys and this runner's own.

    Raises BadInput for a file that cannot be read or has a line that is no key.
    """
    if key_file:
        return read_public_keys(Path(key_file))
    found: list[PublicKey] = []
    for path in (config_folder() / "trusted-keys", public_path(own_key())):
        if path.exists():
            found += read_public_keys(path)
    return list(dict.fromkeys(found))


def read_public_keys(path: Path) -> list[PublicKey]:
    """Return the keys of a file, with lines like `id_ed25519.pub` or like allowed signers.

    For a private key, the public half beside it is read. Raises BadInput for a file without keys,
    and for a line that is not understood.
    """
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
        raise BadInput(f"there is no public key in {_quoted(path)}", hint=MAKE_ONE)
    return found


def _text(path: Path) -> str:
    """Return the beginning of a key file; raises BadInput if it cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_BYTES)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"the key file {_quoted(path)} cannot be read: {_why(error)}",
            hint=f"{MAKE_ONE}, or name another.",
        ) from error
    return data.decode("utf-8", "replace")


def _why(error: OSError | ValueError) -> str | None:
    """Return the reason of a failed file operation; ValueError means a NUL in the path."""
    if isinstance(error, OSError):
        return error.strerror
    return "that is not a path"


def _keys(text: str, path: Path) -> Iterator[PublicKey]:
    """Yield the keys of a file's lines that may sign receipts."""
    for number, line in enumerate(text.splitlines(), 1):
        words = _WORD.findall(line)
        if not words or words[0].startswith("#"):
            continue
        where = f"{path}:{number}"
        kind_at = next((index for index, word in enumerate(words[:3]) if word in KINDS), None)
        if kind_at is None or kind_at + 1 >= len(words):
            raise _not_a_key(line, words, where)
        # A third word before the kind holds the options of an allowed signer.
        if kind_at < 2 or _is_for_receipts(words[1], where):
            yield parse_public_key(words[kind_at], words[kind_at + 1], where)


def _not_a_key(line: str, words: list[str], where: str) -> BadInput:
    """Return the error for a line without a usable key."""
    if any(word.startswith(OTHER_KINDS) for word in words[:3]):
        return BadInput(
            f"{where}: only Ed25519 keys are used for receipts", hint="ssh-keygen -t ed25519"
        )
    return BadInput(
        f"{where}: this line holds no public key: {quote(line)}",
        hint=f"A line is `{PLAIN} AAAA… comment`, or the same after a name. {MAKE_ONE}",
    )


def _is_for_receipts(options: str, where: str) -> bool:
    """Whether the options of an allowed signer permit receipts; unknown options are an error."""
    found = _NAMESPACES.fullmatch(options)
    if found:
        return NAMESPACE in found[1].split(",")
    raise BadInput(
        f"{where}: the options {quote(options)} are not understood",
        hint=f'Only namespaces="{NAMESPACE}".',
    )


def parse_public_key(kind: str, blob: str, where: str) -> PublicKey:
    """Return the key, or raise BadInput for a blob that is not whole or not of its kind."""
    try:
        raw = b64decode(blob, validate=True)
    except binascii.Error:
        raw = b""
    name = len(kind).to_bytes(4, "big") + kind.encode()
    key_length = (32).to_bytes(4, "big")
    least = len(name) + 36
    # A key in a token is followed by the name of its application.
    if kind == PLAIN:
        is_whole = len(raw) == least
    else:
        is_whole = len(raw) > least
    is_exact = b64encode(raw).decode() == blob
    if not (raw.startswith(name + key_length) and is_whole and is_exact):
        raise BadInput(
            f"{where}: the key is damaged: {quote(blob)}", hint="Copy the whole line again."
        )
    return PublicKey(kind=kind, blob=blob)


def make_key(path: Path) -> PublicKey:
    """Write a new key and its public half beside it; raises BadInput where one exists."""
    private, line = _generate()
    public = public_path(path)
    try:
        if public == path or (public.exists() and not path.exists()):
            raise BadInput(f"{_quoted(public)} exists and belongs to another key", hint=ELSEWHERE)
        # Any other folder is for its owner to make.
        if path.parent in (config_folder(), own_key().parent):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        filesystem.write_whole(path, private, must_be_new=True, mode=0o600)
    except FileExistsError as error:
        raise BadInput(
            f"{_quoted(path)} exists already and is not overwritten", hint=ELSEWHERE
        ) from error
    except (OSError, ValueError) as error:
        raise BadInput(
            f"no key can be written to {_quoted(path)}: {_why(error)}", hint=ELSEWHERE
        ) from error
    write_public_key(path, line)
    return read_public_keys(public)[0]


def write_public_key(path: Path, line: str) -> None:
    """Write the public half beside a key that has none."""
    with suppress(FileExistsError):  # another process has written it
        public = f"{line} dos@{process.host()}\n"
        filesystem.write_whole(public_path(path), public.encode(), must_be_new=True, mode=0o644)


def ensure_key(path: Path) -> bool:
    """Make the key if there is none, and return whether this process made it.

    Of several processes that need a key at once, one makes it.
    """
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
    """Return the path in quotes, safe to print: it may come from the environment."""
    return quote(str(path), LONGEST_PATH)


def _generate() -> tuple[bytes, str]:
    """Return a new private key and the line of its public half."""
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
