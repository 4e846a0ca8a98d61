"""Show the signing key's path and the trusted keys.

No secret is shown.
"""

from msgspec import Struct

from dos.errors import BadInput
from dos.receipts.io import keys
from dos.verbs.context import Context, Reply

EXITS = {"shown": 0, "none": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    pass


def run(args: Args, context: Context) -> Reply:
    path = keys.own_key()
    public = keys.public_path(path)
    listed = keys.config_folder() / "trusted-keys"
    own = keys.read_public_keys(public)[0] if public.exists() else None
    if own is None and path.exists():
        raise BadInput(f"{public} is not there", hint=f"ssh-keygen -y -f {path} > {public}")
    trusted = keys.trusted_keys() if own or listed.exists() else []
    lines = [f"key          {path}" + ("" if own else "  (not there: dos receipt-key make)")]
    lines += (
        [f"public half  {public}", f"key id       {own.key_id}", f"             {own.line}"]
        if own
        else []
    )
    lines += [f"trusted      {listed}" + ("" if listed.exists() else "  (not there)")]
    lines += [f"             {key.key_id}" for key in trusted]
    data = {
        "key_file": str(path),
        "key_id": own.key_id if own else None,
        "public_key": own.line if own else None,
        "trusted_file": str(listed),
        "trusted": [{"key_id": key.key_id, "public_key": key.line} for key in trusted],
    }
    return Reply(code=EXITS["shown" if own else "none"], text="\n".join(lines), data=data)
