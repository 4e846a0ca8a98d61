"""Makes the runner's key: outside of every work tree, for its owner's eyes only, and never over another one."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from dos.errors import BadInput
from dos.machine import process
from dos.receipts.io import public_keys, verify_signature
from dos.receipts.io.public_keys import PublicKey
from dos.text import LONGEST_PATH, quote

ELSEWHERE = "Name another place with --out; `dos receipt-key show` says what is there."


def make(path: Path) -> PublicKey:
    """A new key and, beside it, its public half; an error where there is one already."""
    private, line = _generated()
    public = public_keys.beside(path)
    try:
        if public == path or (public.exists() and not path.exists()):
            raise BadInput(f"{_named(public)} is there, and belongs to another key", hint=ELSEWHERE)
        if path.parent in (
            public_keys.folder(),
            public_keys.own_key().parent,
        ):  # another place is its owner's to make
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _place(path, private, 0o600)
    except FileExistsError as error:
        raise BadInput(
            f"{_named(path)} is there already, and is not overwritten", hint=ELSEWHERE
        ) from error
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "that is no path"
        raise BadInput(f"no key can be written to {_named(path)}: {why}", hint=ELSEWHERE) from error
    publish(path, line)
    return public_keys.read(public)[0]


def publish(path: Path, line: str) -> None:
    """Lay the public half beside a key that has none."""
    public = public_keys.beside(path)
    with suppress(FileExistsError):  # somebody else did
        _place(public, f"{line} dos@{process.host()}\n".encode(), 0o644)


def ensure(path: Path) -> bool:
    """Whether the key had to be made: of several that need one at once, one makes it."""
    if path.exists():
        return False
    try:
        make(path)
    except BadInput:
        if not path.exists():
            raise
        return False
    return True


def _named(path: Path) -> str:
    return quote(str(path), LONGEST_PATH)


def _generated() -> tuple[bytes, str]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError as error:
        raise verify_signature.missing() from error
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
