"""The proof of a landing as people read it: the verdict, who signed the receipt, the command that was run."""

from msgspec import Struct


class Signed(Struct, frozen=True, kw_only=True):
    """A receipt, and whether it counts here."""

    valid: bool
    why: str
    verdict: str = ""
    key_id: str = ""  # empty: nobody signed it
    runner: str = ""
    command: str = ""
    exit_code: int | None = None


class Proved(Struct, frozen=True, kw_only=True):
    answer: str  # of `dos verify`; UNKNOWN: it could not be asked
    tier: str
    tier_name: str
    reason: str
    receipt: Signed | None

    @property
    def line(self) -> str:
        """The verdict, what it goes by, and the command; in one line."""
        return f"{self.verdict}, {self.signed}" + (f", `{self.command}`" if self.command else "")

    @property
    def verdict(self) -> str:
        return f"{self.answer} {self.tier} {self.tier_name}".rstrip()

    @property
    def signed(self) -> str:
        if self.receipt is None:
            return "no receipt"
        if not self.receipt.key_id:
            return f"a receipt that nobody signed ({self.receipt.why})"
        who = f"signed by {self.receipt.key_id}" + (
            f" on {self.receipt.runner}" if self.receipt.runner else ""
        )
        return who if self.receipt.valid else f"{who}, and does not hold: {self.receipt.why}"

    @property
    def command(self) -> str:
        return self.receipt.command if self.receipt else ""
