"""The measure of the oracle: each variant of each lie is refused, and of honest work taken."""

from pathlib import Path

import pytest
from families import branches
from families.catalog import FAMILIES
from families.variant import Family, Variant

from dos.verify.io import verifier
from dos.verify.io.verifier import Ask
from dos.world import World

VARIANTS = [(family, variant) for family in FAMILIES for variant in family.variants]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The repository and, of each variant in order, its branch."""
    root = tmp_path_factory.mktemp("families")
    return root, branches.write(root, [variant for _, variant in VARIANTS])


@pytest.mark.parametrize(
    ("number", "family", "variant"),
    [(number, family, variant) for number, (family, variant) in enumerate(VARIANTS)],
    ids=[f"{family.name}: {variant.name}" for family, variant in VARIANTS],
)
def test_the_oracle_answers_each_variant_rightly(
    repository: tuple[Path, list[str]], number: int, family: Family, variant: Variant
) -> None:
    root, refs = repository
    ask = Ask(ref=refs[number], uses_index=False, looks_for_importers=True)
    verdict = verifier.verify(World(root, lenient=True), [(variant.plan, variant.unit)], ask)[0]
    remarks = [*verdict.contradictions, *filter(None, [verdict.imported_nowhere])]
    error = family.error(verdict.exit_code, remarks)
    assert error is None, f"{error.value}: {verdict.reason} {remarks} {variant.why}"


def test_each_family_and_each_of_its_variants_has_a_name_of_its_own() -> None:
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)
    for family in FAMILIES:
        assert len({variant.name for variant in family.variants}) == len(family.variants) >= 5
