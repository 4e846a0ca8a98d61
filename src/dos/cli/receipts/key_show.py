"""Show the signing key's path and the trusted keys.

No secret is shown.
"""

from typing import Any

from msgspec import Struct

from dos.errors import BadInput
from dos.receipts.io import keys
from dos.verbs.context import Context, Reply

EXITS = {"shown": 0, "none": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    """No arguments."""


def run(_args: Args, _context: Context) -> Reply:
    """Print where the key lies, its public half, and the keys whose receipts are trusted here.

    The exit code is 1 if there is no key. Raises BadInput if only its private half is there: the
    hint is the command that makes the public half again.
    """
    path = keys.own_key()
    public = keys.public_path(path)
    data: dict[str, Any] = {"key_file": str(path), "key_id": None, "public_key": None}
    code = EXITS["none"]
    lines = [f"key          {path}  (missing: dos receipt-key make)"]
    if public.exists():
        own = keys.read_public_keys(public)[0]
        code = EXITS["shown"]
        data |= {"key_id": own.key_id, "public_key": own.line}
        lines = [
            f"key          {path}",
            f"public half  {public}",
            f"key id       {own.key_id}",
            f"             {own.line}",
        ]
    elif path.exists():
        raise BadInput(f"{public} is missing", hint=f"ssh-keygen -y -f {path} > {public}")
    trusted_file = keys.config_folder() / "trusted-keys"
    trusted = []
    if public.exists() or trusted_file.exists():
        trusted = keys.trusted_keys()
    note = "  (missing)"
    if trusted_file.exists():
        note = ""
    lines.append(f"trusted      {trusted_file}{note}")
    lines += [f"             {key.key_id}" for key in trusted]
    data["trusted_file"] = str(trusted_file)
    data["trusted"] = [{"key_id": key.key_id, "public_key": key.line} for key in trusted]
    return Reply(code=code, text="\n".join(lines), data=data)
