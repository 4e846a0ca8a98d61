"""Did this key sign this receipt?"""

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory

from msgspec import Struct, structs

from dos.errors import BadInput
from dos.receipts import receipt as receipts
from dos.receipts.io import keys
from dos.receipts.io.keys import MAKE_ONE, PLAIN, PublicKey, cryptography_missing
from dos.receipts.receipt import NAMESPACE, Algorithm, Receipt
from dos.workspace import Workspace

SECONDS = 60  # somebody may have to touch a token
_HEX = re.compile(r"[0-9a-f]{128}")
_LINE = 70


def is_signed_by(receipt: Receipt, key: PublicKey) -> bool:
    match receipt.algorithm:
        case Algorithm.ED25519:
            return key.kind == PLAIN and _ed25519(receipt, key)
        case Algorithm.SSHSIG:
            return _sshsig(receipt, key)
    return False


def _ed25519(receipt: Receipt, key: PublicKey) -> bool:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError as error:
        raise cryptography_missing() from error
    if not _HEX.fullmatch(receipt.signature):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key.raw).verify(
            bytes.fromhex(receipt.signature), receipts.signed_payload(receipt)
        )
    except InvalidSignature:
        return False
    return True


def _sshsig(receipt: Receipt, key: PublicKey) -> bool:
    """By ssh-keygen itself, which is told of this one key and no other."""
    try:
        raw = b64decode(receipt.signature, validate=True)
    except (binascii.Error, ValueError):
        return False
    if not raw or b64encode(raw).decode() != receipt.signature:
        return False
    with TemporaryDirectory(prefix="dos-receipt-") as place:
        signers, signature = Path(place) / "signers", Path(place) / "signature"
        signers.write_text(f'runner namespaces="{NAMESPACE}" {key.line}\n', encoding="utf-8")
        signature.write_text(armour(receipt.signature), encoding="utf-8")
        words = (
            "-Y",
            "verify",
            "-n",
            NAMESPACE,
            "-I",
            "runner",
            "-f",
            str(signers),
            "-s",
            str(signature),
        )
        return ssh_keygen(*words, feed=receipts.signed_payload(receipt))[0] == 0


def armour(signature: str) -> str:
    lines = [signature[at : at + _LINE] for at in range(0, len(signature), _LINE)]
    return "\n".join(["-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----", ""])


def strip_armour(armour: str) -> str:
    """The signature itself: a receipt has no lines in it."""
    return "".join(armour.strip().splitlines()[1:-1])


def ssh_keygen(*words: str, feed: bytes) -> tuple[int, str, str]:
    """Its exit code, its answer, its complaint. Nobody is asked for a passphrase."""
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
            start_new_session=True,  # so that it finds no terminal to ask on
        )
    except FileNotFoundError as error:
        raise BadInput(
            "signatures of ssh need `ssh-keygen`, which is not here", hint="Install OpenSSH."
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
    key: PublicKey
    algorithm: Algorithm
    make: Callable[[bytes], str]

    def sign(self, receipt: Receipt) -> Receipt:
        named = structs.replace(
            receipt, algorithm=self.algorithm, key_id=self.key.key_id, signature=""
        )
        return structs.replace(
            named, signature=self.make(receipts.signed_payload(receipts.validated(named)))
        )


def load_signer(path: Path, workspace: Workspace, *, through_ssh: bool = False) -> Signer:
    """Whoever signs with the key in a file. A public key means that ssh's agent has the other half."""
    keys.check_private_key(path, workspace)
    if through_ssh or path.suffix == ".pub":
        return _through_ssh(path)
    return _in_process(path)


def _in_process(path: Path) -> Signer:
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
            hint=f"ssh-add {quote(str(path))}, and sign with --key-file {quote(str(keys.public_path(path)))}",
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
    return Signer(
        key=keys.parse_public_key(kind, blob, str(path)),
        algorithm=Algorithm.ED25519,
        make=lambda payload: secret.sign(payload).hex(),
    )


def _through_ssh(path: Path) -> Signer:
    def make(payload: bytes) -> str:
        code, said, complaint = ssh_keygen(
            "-Y", "sign", "-q", "-n", NAMESPACE, "-f", str(path), feed=payload
        )
        if code != 0 or "SSH SIGNATURE" not in said:
            why = (complaint.strip().splitlines() or ["it gave no reason"])[-1]
            raise BadInput(
                f"ssh-keygen does not sign with {path}: {why}",
                hint="ssh-add -L lists what the agent has.",
            )
        return strip_armour(said)

    return Signer(key=keys.read_public_keys(path)[0], algorithm=Algorithm.SSHSIG, make=make)
