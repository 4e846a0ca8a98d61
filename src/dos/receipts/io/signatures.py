"""Signs receipts and checks their signatures.

A key in a file signs in this process, with the package `cryptography`; a key that an ssh agent or a
token keeps, through ssh-keygen. `load_signer` chooses; `is_signed_by` checks both kinds.
"""

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory

from msgspec import Struct, structs

from dos.errors import BadInput
from dos.receipts.io import keys
from dos.receipts.io.keys import MAKE_ONE, PLAIN, PublicKey, cryptography_missing
from dos.receipts.receipt import NAMESPACE, Algorithm, Receipt, signed_payload, validated
from dos.workspace import Workspace

SECONDS = 60  # a person may have to touch a token
_HEX = re.compile(r"[0-9a-f]{128}")
_LINE = 70  # characters of a line in ssh's armour


def is_signed_by(receipt: Receipt, key: PublicKey) -> bool:
    """Whether the key signed the receipt as it is now; False for an algorithm that is unknown.

    Raises BadInput if `cryptography` or ssh-keygen is needed and not installed.
    """
    match receipt.algorithm:
        case Algorithm.ED25519:
            return key.kind == PLAIN and _ed25519(receipt, key)
        case Algorithm.SSHSIG:
            return _sshsig(receipt, key)
    return False


def _ed25519(receipt: Receipt, key: PublicKey) -> bool:
    """Check the signature in this process; `cryptography` is loaded only for that."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError as error:
        raise cryptography_missing() from error
    if not _HEX.fullmatch(receipt.signature):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key.raw).verify(
            bytes.fromhex(receipt.signature), signed_payload(receipt)
        )
    except InvalidSignature:
        return False
    return True


def _sshsig(receipt: Receipt, key: PublicKey) -> bool:
    """Let ssh-keygen check the signature, with this key as the only allowed signer."""
    try:
        raw = b64decode(receipt.signature, validate=True)
    except (binascii.Error, ValueError):
        return False
    if not raw or b64encode(raw).decode() != receipt.signature:
        return False
    with TemporaryDirectory(prefix="dos-receipt-") as folder:
        signers = Path(folder) / "signers"
        signers.write_text(f'runner namespaces="{NAMESPACE}" {key.line}\n', encoding="utf-8")
        signature = Path(folder) / "signature"
        signature.write_text(armour(receipt.signature), encoding="utf-8")
        files = ("-f", str(signers), "-s", str(signature))
        words = ("-Y", "verify", "-n", NAMESPACE, "-I", "runner", *files)
        code, _, _ = ssh_keygen(*words, feed=signed_payload(receipt))
        return code == 0


def armour(signature: str) -> str:
    """Return a bare signature in the lines that ssh-keygen reads."""
    lines = [signature[start : start + _LINE] for start in range(0, len(signature), _LINE)]
    return "\n".join(["-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----", ""])


def strip_armour(armour: str) -> str:
    """Return the signature on one line: a receipt holds no line breaks."""
    return "".join(armour.strip().splitlines()[1:-1])


def ssh_keygen(*words: str, feed: bytes) -> tuple[int, str, str]:
    """Run ssh-keygen and return its exit code, output and errors; it cannot ask a person."""
    import os
    import subprocess

    environment = {**os.environ, "SSH_ASKPASS_REQUIRE": "never", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["ssh-keygen", *words],
            input=feed,
            capture_output=True,
            env=environment,
            timeout=SECONDS,
            start_new_session=True,  # without a terminal to ask on
        )
    except FileNotFoundError as error:
        raise BadInput(
            "ssh signatures need `ssh-keygen`, which is not installed", hint="Install OpenSSH."
        ) from error
    except subprocess.TimeoutExpired as error:
        raise BadInput(
            f"ssh-keygen did not answer within {SECONDS} s", hint="Is the key's token plugged in?"
        ) from error
    return (
        done.returncode,
        done.stdout.decode("utf-8", "replace"),
        done.stderr.decode("utf-8", "replace"),
    )


class Signer(Struct, frozen=True, kw_only=True):
    """Signs receipts with one key."""

    key: PublicKey
    algorithm: Algorithm
    make: Callable[[bytes], str]

    def sign(self, receipt: Receipt) -> Receipt:
        """Return the receipt with the key's id and signature; BadInput for one that is unfit."""
        unsigned = structs.replace(
            receipt, algorithm=self.algorithm, key_id=self.key.key_id, signature=""
        )
        signature = self.make(signed_payload(validated(unsigned)))
        return structs.replace(unsigned, signature=signature)


def load_signer(path: Path, workspace: Workspace, *, through_ssh: bool = False) -> Signer:
    """Return the signer for the key in a file; for a public key, ssh's agent has the other half.

    Raises BadInput for a key that others can read, or that lies in a tree that is judged.
    """
    keys.check_private_key(path, workspace)
    if through_ssh or path.suffix == ".pub":
        return _through_ssh(path)
    return _in_process(path)


def _in_process(path: Path) -> Signer:
    """Return the signer for a private key without a passphrase.

    `cryptography` is loaded here, at use: most commands sign nothing, and loading it takes long.
    """
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError as error:
        raise keys.cryptography_missing() from error
    try:
        secret = serialization.load_ssh_private_key(path.read_bytes(), password=None)
    except OSError as error:
        raise BadInput(f"the key {path} cannot be read: {error.strerror}", hint=MAKE_ONE) from error
    except TypeError as error:
        raise BadInput(
            f"the key {path} is locked with a passphrase",
            hint=f"ssh-add {quote(str(path))}, and sign with --key-file "
            f"{quote(str(keys.public_path(path)))}",
        ) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise BadInput(
            f"{path} is not a private key as ssh-keygen makes them", hint=MAKE_ONE
        ) from error
    if not isinstance(secret, Ed25519PrivateKey):
        raise BadInput(f"{path} is no Ed25519 key", hint=MAKE_ONE)
    public = secret.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    )
    kind, blob = public.decode().split()
    if not keys.public_path(path).exists():
        keys.write_public_key(path, public.decode())

    def make(payload: bytes) -> str:
        return secret.sign(payload).hex()

    key = keys.parse_public_key(kind, blob, str(path))
    return Signer(key=key, algorithm=Algorithm.ED25519, make=make)


def _through_ssh(path: Path) -> Signer:
    """Return the signer for a key that ssh's agent or a token keeps."""
    words = ("-Y", "sign", "-q", "-n", NAMESPACE, "-f", str(path))

    def make(payload: bytes) -> str:
        code, output, errors = ssh_keygen(*words, feed=payload)
        if code == 0 and "SSH SIGNATURE" in output:
            return strip_armour(output)
        lines = errors.strip().splitlines() or ["it gave no reason"]
        raise BadInput(
            f"ssh-keygen cannot sign with {path}: {lines[-1]}",
            hint="ssh-add -L lists the keys that the agent has.",
        )

    return Signer(key=keys.read_public_keys(path)[0], algorithm=Algorithm.SSHSIG, make=make)
