"""Signs receipts: with a key in a file, or through ssh-keygen with one that an agent or a token keeps."""

from collections.abc import Callable
from pathlib import Path
from shlex import quote

from msgspec import Struct, structs

from dos.errors import BadInput
from dos.receipts import receipt as receipts
from dos.receipts.io import keys, public_keys, verify_signature
from dos.receipts.io.public_keys import MAKE_ONE, PublicKey
from dos.receipts.receipt import NAMESPACE, Algorithm, Receipt
from dos.workspace import Workspace


class Signer(Struct, frozen=True, kw_only=True):
    key: PublicKey
    algorithm: Algorithm
    make: Callable[[bytes], str]

    def sign(self, receipt: Receipt) -> Receipt:
        named = structs.replace(
            receipt, algorithm=self.algorithm, key_id=self.key.key_id, signature=""
        )
        return structs.replace(
            named, signature=self.make(receipts.payload(receipts.checked(named)))
        )


def signer(path: Path, workspace: Workspace, *, through_ssh: bool = False) -> Signer:
    """Whoever signs with the key in a file. A public key means that ssh's agent has the other half."""
    public_keys.check_kept(path, workspace)
    if through_ssh or path.suffix == ".pub":
        return _through_ssh(path)
    return _in_process(path)


def _in_process(path: Path) -> Signer:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError as error:
        raise verify_signature.missing() from error
    try:
        secret = serialization.load_ssh_private_key(path.read_bytes(), password=None)
    except OSError as error:
        raise BadInput(f"the key {path} cannot be read: {error.strerror}", hint=MAKE_ONE) from error
    except TypeError as error:
        raise BadInput(
            f"the key {path} is locked with a passphrase",
            hint=f"ssh-add {quote(str(path))}, and sign with --key-file {quote(str(public_keys.beside(path)))}",
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
    if not public_keys.beside(path).exists():
        keys.publish(path, public.decode())
    return Signer(
        key=public_keys.public_key(kind, blob, str(path)),
        algorithm=Algorithm.ED25519,
        make=lambda payload: secret.sign(payload).hex(),
    )


def _through_ssh(path: Path) -> Signer:
    def make(payload: bytes) -> str:
        code, said, complaint = verify_signature.ssh_keygen(
            "-Y", "sign", "-q", "-n", NAMESPACE, "-f", str(path), feed=payload
        )
        if code != 0 or "SSH SIGNATURE" not in said:
            why = (complaint.strip().splitlines() or ["it gave no reason"])[-1]
            raise BadInput(
                f"ssh-keygen does not sign with {path}: {why}",
                hint="ssh-add -L lists what the agent has.",
            )
        return verify_signature.bare(said)

    return Signer(key=public_keys.read(path)[0], algorithm=Algorithm.SSHSIG, make=make)
