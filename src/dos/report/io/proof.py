"""The proof of a landing as people read it: the verdict, who signed the receipt, the command that was run."""

from dos.receipts.io.find import Checked
from dos.receipts.receipt import Algorithm
from dos.report.proof import Proved, Signed
from dos.unknown import Unknown
from dos.verify.io.corroborate import Proof

UNKNOWN = "UNKNOWN"


def proved(proof: Proof) -> Proved:
    receipt = _signed(proof.receipt) if proof.receipt else None
    verdict = proof.verdict
    if isinstance(verdict, Unknown):
        return Proved(answer=UNKNOWN, tier="", tier_name="", reason=verdict.why, receipt=receipt)
    return Proved(
        answer=verdict.answer,
        tier=f"T{int(verdict.tier)}",
        tier_name=verdict.tier.name.lower().replace("_", " "),
        reason=verdict.reason,
        receipt=receipt,
    )


def _signed(checked: Checked) -> Signed:
    found = checked.receipt
    if found is None:
        return Signed(valid=checked.valid, why=checked.why)
    words = found.command[2:] if found.command[:2] == ("sh", "-c") else found.command
    return Signed(
        valid=checked.valid,
        why=checked.why,
        verdict=found.verdict,
        key_id="" if found.algorithm == Algorithm.NONE else found.key_id,
        runner=found.runner,
        command=" ".join(words),
        exit_code=found.exit_code,
    )
