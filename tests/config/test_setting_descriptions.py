"""Every setting says what it means, where it is declared."""

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from msgspec import Struct, structs

from dos.config.schema import Config
from dos.config.show import descriptions


def tables_in(kind: Any) -> Iterator[type[Struct]]:
    """The settings tables that a type is made of, and those inside them."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        yield kind
        for field in structs.fields(kind):
            yield from tables_in(field.type)
    for part in get_args(kind):
        yield from tables_in(part)


TABLES = sorted(set(tables_in(Config)) - {Config}, key=repr)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.__module__}.{table.__name__}")
def test_every_setting_of_a_table_is_described_in_one_sentence(table):
    described = descriptions(table)
    for field in structs.fields(table):
        text = described.get(field.name, "")
        assert text.endswith(".") and "\n" not in text and len(text) <= 100, field.name


def test_a_key_of_the_file_that_is_no_table_is_described():
    described = descriptions(Config)
    for field in structs.fields(Config):
        is_table = isinstance(field.type, type) and issubclass(field.type, Struct)
        assert is_table or described.get(field.name), field.name
