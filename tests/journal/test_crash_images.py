"""The power is cut at every write and every sync of the store's files: what was acknowledged is there afterwards."""

import random
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from acknowledged import Ack, Appended, Granted, Ledger, appended, asked, decode, goes_on, halves

from disk.recorder import Image, Kind, Operation, crash_images, read_log, run
from dos.errors import DosError
from dos.journal.opening import open_store
from dos.journal.store import Store
from dos.records.leases import Lease
from dos.verdicts.access import admission

WRITER = Path(__file__).with_name("writer.py")
