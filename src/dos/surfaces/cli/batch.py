"""Many questions in one call: a JSON document a line in, an answer a line out, in the same order."""

import sys
from collections.abc import Callable
from typing import Any

from msgspec import MsgspecError, json

from dos.surfaces.cli.desk import Reply
from dos.surfaces.cli.verbs.journal.long_output import long_output


def answer_lines(kind: type[Any], answer: Callable[[Any], Any]) -> Reply:
    """A line that cannot be read is answered by an error in its place; the others are answered all the same."""
    decoder, encoder, failed = json.Decoder(kind), json.Encoder(), False
    with long_output() as out:
        for number, line in enumerate(sys.stdin.buffer, 1):
            if not line.strip():
                continue
            try:
                said = answer(decoder.decode(line))
            except (MsgspecError, UnicodeDecodeError) as error:
                failed, said = True, {"error": str(error), "line": number}
            out.write(encoder.encode(said).decode() + "\n")
    return Reply(code=2 if failed else 0)
