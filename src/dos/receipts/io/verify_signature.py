"""Did this key sign this receipt?"""

import binascii
import re
from base64 import b64decode, b64encode
from pathlib import Path
from tempfile import TemporaryDirectory

from dos.errors import BadInput
from dos.receipts import receipt as receipts
from dos.receipts.io.public_keys import PLAIN, PublicKey
from dos.receipts.receipt import NAMESPACE, Algorithm, Receipt

INSTALL = "pip install 'dispatch-os[receipts]'"
SECONDS = 60  # somebody may have to touch a token
_HEX = re.compile(r"[0-9a-f]{128}")
_LINE = 70


def installed() -> bool:
    """Without loading it, which takes a while."""
    from importlib.util import find_spec

    return find_spec("cryptography") is not None


def missing() -> BadInput:
    return BadInput(
        "Ed25519 signatures need the package `cryptography`, which is not installed", hint=INSTALL
    )


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
        raise missing() from error
    if not _HEX.fullmatch(receipt.signature):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key.raw).verify(
            bytes.fromhex(receipt.signature), receipts.payload(receipt)
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
        signature.write_text(armoured(receipt.signature), encoding="utf-8")
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
        return ssh_keygen(*words, feed=receipts.payload(receipt))[0] == 0


def armoured(signature: str) -> str:
    lines = [signature[at : at + _LINE] for at in range(0, len(signature), _LINE)]
    return "\n".join(["-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----", ""])


def bare(armour: str) -> str:
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
