"""Labelled commits of documents, settings, workflows and releases."""

from labelled_commit import labelled

COMMITS = (
    labelled(
        "documents-in-other-words",
        "Clarify how retries are counted",
        "done not_touched",
        "a subject about an explanation; the guide has it",
        r"""
docs/guide/delivery.md
 # Delivery

 A webhook is delivered at least once.

-Failed deliveries are retried up to five times.
+Failed deliveries are retried up to five times. The first attempt does not count, so a
+webhook that never answers is called six times.

 ## Order

 Deliveries of one resource arrive in order.
""",
    ),
    labelled(
        "documents-authors",
        "Add Mira Okafor",
        "done not_touched",
        "a name in the list of authors",
        r"""
AUTHORS
 Written by:

 Jonas Brandt
 Li Na
+Mira Okafor
 Tomasz Zielony
""",
    ),
    labelled(
        "documents-ci",
        "Fix CI",
        "done not_touched",
        "a vague subject about the workflow, which changes",
        r"""
.github/workflows/build.yml
 name: build
 on: [push, pull_request]
 jobs:
   test:
     runs-on: ubuntu-22.04
     steps:
       - uses: actions/checkout@v4
       - uses: actions/setup-python@v5
         with:
-          python-version: 3.10
+          python-version: "3.10"
       - run: pip install -e .[dev]
       - run: pytest
""",
    ),
    labelled(
        "documents-windows",
        "Run the tests on Windows too",
        "done not_touched",
        "says where tests run; the workflow has it",
        r"""
.github/workflows/build.yml
 name: build
 on: [push]
 jobs:
   test:
-    runs-on: ubuntu-22.04
+    strategy:
+      matrix:
+        os: [ubuntu-22.04, windows-2022]
+    runs-on: ${{ matrix.os }}
     steps:
       - uses: actions/checkout@v4
       - run: cargo test
""",
    ),
    labelled(
        "documents-release",
        "Release 3.2.0",
        "done not_touched",
        "the version and the head of the change log",
        r"""
Cargo.toml
 [package]
 name = "tally"
-version = "3.1.4"
+version = "3.2.0"
 edition = "2021"

 [dependencies]
 csv = "1.3"
CHANGELOG.md
 # Changelog

-## Unreleased
+## 3.2.0 (2024-05-02)

 - Exports can be written as JSON.
""",
    ),
    labelled(
        "documents-unused-file",
        "Remove unused stylesheet",
        "done not_touched",
        "says a file goes, and it goes",
        r"""
web/legacy.css
-.banner {
-  color: #333;
-  margin: 0 auto;
-}
-
-.banner a {
-  text-decoration: none;
-}
web/index.html
 <!doctype html>
 <title>Tally</title>
 <link rel="stylesheet" href="main.css">
 <h1>Tally</h1>
""",
    ),
    labelled(
        "documents-change-log",
        "Mention the JSON export",
        "done not_touched",
        "to mention is to write it down, in the change log",
        r"""
CHANGES.txt
 Changes
 =======

 Next
 ----

 * Totals are printed in bold.
+* Exports can be written as JSON (--format json).

 3.1.4
 -----

 * Fixed the width of columns with umlauts.
""",
    ),
    labelled(
        "documents-settings",
        "Merge staging settings into the default file",
        "done not_touched",
        "settings move from one file to another",
        r"""
config/staging.yaml
-log_level: debug
-cache:
-  size: 64
-  ttl: 30
config/default.yaml
 log_level: info
 cache:
   size: 512
   ttl: 600
+staging:
+  log_level: debug
+  cache:
+    size: 64
+    ttl: 30
""",
    ),
)
