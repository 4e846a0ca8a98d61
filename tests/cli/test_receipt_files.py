"""Receipts as files: what is there already stays, unless it is a receipt."""

import os

import pytest

from dos.cli.receipts.receipt import write_receipt
from dos.errors import BadInput
from dos.receipts import receipt


def test_only_a_receipt_is_written_over(tmp_path):
    made = receipt.unsigned_receipt(schema=receipt.SCHEMA)
    out = tmp_path / "receipt.json"
    write_receipt(str(out), made)
    write_receipt(str(out), made)
    other = tmp_path / "notes.txt"
    other.write_text("mine")
    with pytest.raises(BadInput, match="is not a receipt"):
        write_receipt(str(other), made)
    assert other.read_text() == "mine"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("nowhere", path)])
def test_what_is_no_file_is_not_replaced(tmp_path, make):
    make(tmp_path / "out")
    before = os.lstat(tmp_path / "out")
    with pytest.raises(BadInput):
        write_receipt(str(tmp_path / "out"), receipt.unsigned_receipt())
    assert os.lstat(tmp_path / "out").st_mode == before.st_mode
