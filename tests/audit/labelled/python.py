"""Labelled commits of Python projects."""

from labelled_commit import labelled, reverted

_ROUNDING = labelled(
    "python-cents",
    "Round converted amounts to cents",
    "done strengthened",
    "the code rounds and a test asks for it",
    r'''
ledger/convert.py
 """Conversion between currencies."""

 RATES = {"EUR": 1.0, "CHF": 0.95, "SEK": 11.3}


 def convert(amount, source, target):
     if source not in RATES or target not in RATES:
         raise KeyError(source)
-    return amount * RATES[target] / RATES[source]
+    return round(amount * RATES[target] / RATES[source], 2)
tests/test_convert.py
 import pytest

 from ledger.convert import convert


 def test_same_currency_keeps_the_amount():
     assert convert(12.5, "EUR", "EUR") == 12.5


 def test_unknown_currency():
     with pytest.raises(KeyError):
         convert(1, "EUR", "XXX")
+
+
+def test_amounts_are_rounded_to_cents():
+    assert convert(1, "SEK", "CHF") == 0.08
''',
)

COMMITS = (
    _ROUNDING,
    reverted(
        "python-revert",
        r'''
ledger/convert.py
 """Conversion between currencies."""

 RATES = {"EUR": 1.0, "CHF": 0.95, "SEK": 11.3}


 def convert(amount, source, target):
     if source not in RATES or target not in RATES:
         raise KeyError(source)
-    return round(amount * RATES[target] / RATES[source], 2)
+    return amount * RATES[target] / RATES[source]
tests/test_convert.py
 import pytest

 from ledger.convert import convert


 def test_same_currency_keeps_the_amount():
     assert convert(12.5, "EUR", "EUR") == 12.5


 def test_unknown_currency():
     with pytest.raises(KeyError):
         convert(1, "EUR", "XXX")
-
-
-def test_amounts_are_rounded_to_cents():
-    assert convert(1, "SEK", "CHF") == 0.08
''',
        _ROUNDING,
        "done kept",
        "the case goes with the behaviour that is reverted",
    ),
    reverted(
        "python-half-revert",
        r"""
tests/test_convert.py
 import pytest

 from ledger.convert import convert


 def test_same_currency_keeps_the_amount():
     assert convert(12.5, "EUR", "EUR") == 12.5


 def test_unknown_currency():
     with pytest.raises(KeyError):
         convert(1, "EUR", "XXX")
-
-
-def test_amounts_are_rounded_to_cents():
-    assert convert(1, "SEK", "CHF") == 0.08
""",
        _ROUNDING,
        "not_done weakened",
        "the code still rounds and its test is gone",
    ),
    labelled(
        "python-readme-for-a-fix",
        "Fix off-by-one in page numbers of the last chapter",
        "not_done not_touched",
        "says a fix of page numbers; a sentence in the readme about installing changes",
        r"""
README.md
 # bindery

 Turns a folder of Markdown chapters into a paginated book.

 ## Install

-Run `pip install bindery`.
+Run `pip install bindery` in a virtual environment, preferably with Python 3.12.

 ## Use

     bindery build chapters/ --out book.pdf
""",
    ),
    labelled(
        "python-lost-assertion",
        "Add currency symbol to price labels",
        "done weakened",
        "the label and its test are there, but the check of the stock is gone from another case",
        r"""
shop/labels.py
 def price_label(item, symbol="€"):
-    return f"{item.price:.2f}"
+    return f"{symbol}{item.price:.2f}"


 def stock_label(item):
     if item.stock == 0:
         return "sold out"
     return f"{item.stock} left"
tests/test_labels.py
 from shop.labels import price_label, stock_label
 from shop.model import Item


 def test_price():
-    assert price_label(Item("mug", 7.5, 3)) == "7.50"
+    assert price_label(Item("mug", 7.5, 3)) == "€7.50"
+
+
+def test_price_in_another_currency():
+    assert price_label(Item("mug", 7.5, 3), symbol="£") == "£7.50"


 def test_stock():
     assert stock_label(Item("mug", 7.5, 0)) == "sold out"
-    assert stock_label(Item("mug", 7.5, 2)) == "2 left"
""",
    ),
    labelled(
        "python-hidden-case",
        "test: cover thumbnails of portrait photos",
        "done weakened",
        "the new function has the name of one above it, which no longer runs",
        r"""
tests/test_thumbnails.py
 from album.thumbnails import thumbnail_size


 def test_landscape_is_limited_by_width():
     assert thumbnail_size(4000, 3000, limit=400) == (400, 300)


 def test_small_photos_are_not_enlarged():
     assert thumbnail_size(120, 90, limit=400) == (120, 90)


 def test_square():
     assert thumbnail_size(800, 800, limit=400) == (400, 400)
+
+
+def test_landscape_is_limited_by_width():
+    assert thumbnail_size(3000, 4000, limit=400) == (300, 400)
""",
    ),
    labelled(
        "python-any-exception",
        "Reject negative durations in the timer",
        "done weakened",
        "the existing case accepts any exception now",
        r"""
kitchen/timer.py
 class Timer:
     def __init__(self, seconds):
         if not isinstance(seconds, (int, float)):
             raise TypeError("seconds must be a number")
+        if seconds < 0:
+            raise ValueError("seconds must not be negative")
         self.seconds = seconds

     def remaining(self, elapsed):
         return max(0, self.seconds - elapsed)
tests/test_timer.py
 import pytest

 from kitchen.timer import Timer


 def test_remaining():
     assert Timer(60).remaining(20) == 40


 def test_text_is_refused():
-    with pytest.raises(TypeError):
+    with pytest.raises(Exception):
         Timer("60")
+
+
+def test_negative_is_refused():
+    with pytest.raises(ValueError):
+        Timer(-1)
""",
    ),
    labelled(
        "python-rows-for-calls",
        "refactor: parametrize slug tests",
        "done kept",
        "four assertions became four rows",
        r"""
tests/test_slug.py
+import pytest
+
 from blog.slug import slugify


-def test_slugify():
-    assert slugify("Hello World") == "hello-world"
-    assert slugify("  spaces  ") == "spaces"
-    assert slugify("Ünïcode") == "unicode"
-    assert slugify("") == "untitled"
+@pytest.mark.parametrize(
+    ("title", "expected"),
+    [
+        ("Hello World", "hello-world"),
+        ("  spaces  ", "spaces"),
+        ("Ünïcode", "unicode"),
+        ("", "untitled"),
+    ],
+)
+def test_slugify(title, expected):
+    assert slugify(title) == expected
""",
    ),
    labelled(
        "python-fault-as-subject",
        "Scheduler starts the same job twice after a clock change",
        "done strengthened",
        "the subject states the fault; code and test put it right",
        r"""
cron/scheduler.py
 class Scheduler:
     def __init__(self, clock):
         self.clock = clock
         self.started = {}

     def due(self, job):
         now = self.clock()
-        return now >= job.next_run
+        last = self.started.get(job.name)
+        return now >= job.next_run and (last is None or last < job.next_run)

     def start(self, job):
         self.started[job.name] = self.clock()
         job.run()
tests/test_scheduler.py
 from cron.job import Job
 from cron.scheduler import Scheduler


 def test_a_job_is_due_at_its_time():
     assert Scheduler(lambda: 10).due(Job("a", next_run=10))
+
+
+def test_a_started_job_is_not_due_again():
+    scheduler = Scheduler(lambda: 10)
+    job = Job("a", next_run=10)
+    scheduler.start(job)
+    assert not scheduler.due(job)
""",
    ),
    labelled(
        "python-assertion-helper",
        "Share the response checks between the API tests",
        "done kept",
        "the same checks stand in a helper that each case calls",
        r"""
tests/test_api.py
 from weather.api import forecast, history


-def test_forecast():
-    response = forecast("Oslo")
-    assert response.status == 200
-    assert response.headers["content-type"] == "application/json"
-    assert response.json()["city"] == "Oslo"
+def check(response, city):
+    assert response.status == 200
+    assert response.headers["content-type"] == "application/json"
+    assert response.json()["city"] == city


-def test_history():
-    response = history("Bergen")
-    assert response.status == 200
-    assert response.headers["content-type"] == "application/json"
-    assert response.json()["city"] == "Bergen"
+def test_forecast():
+    check(forecast("Oslo"), "Oslo")
+
+
+def test_history():
+    check(history("Bergen"), "Bergen")
""",
    ),
    labelled(
        "python-platform-skip-of-a-new-case",
        "Add test for unix sockets",
        "done strengthened",
        "a new case, which one platform cannot run",
        r"""
tests/test_listen.py
+import sys
+
+import pytest
+
 from relay.listen import listen


 def test_tcp_port_is_bound():
     with listen("tcp://127.0.0.1:0") as server:
         assert server.port > 0
+
+
+@pytest.mark.skipif(sys.platform == "win32", reason="no unix sockets on Windows")
+def test_unix_socket_is_bound(tmp_path):
+    with listen(f"unix://{tmp_path}/relay.sock") as server:
+        assert server.path == f"{tmp_path}/relay.sock"
""",
    ),
    labelled(
        "python-docstring",
        "Document the arguments of resample()",
        "done not_touched",
        "says documentation; the docstring has it",
        r'''
audio/resample.py
 from audio.filters import low_pass


 def resample(samples, source_rate, target_rate):
-    """Resample."""
+    """Return the samples at another rate.
+
+    samples: a sequence of floats between -1 and 1.
+    source_rate, target_rate: in hertz; both must be positive.
+    """
     if target_rate < source_rate:
         samples = low_pass(samples, target_rate / 2)
     step = source_rate / target_rate
     count = int(len(samples) / step)
     return [samples[int(at * step)] for at in range(count)]
''',
    ),
)
