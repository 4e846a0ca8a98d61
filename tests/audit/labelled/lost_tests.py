"""Labelled commits in which tests of code that is still there no longer run."""

from labelled_commit import labelled

COMMITS = (
    labelled(
        "python-importorskip",
        "Read compressed archives",
        "done weakened",
        "where the program's own dependency is missing, all cases are skipped instead of failing",
        r"""
archive/reader.py
 import json

+import zstandard
+

 def read(path):
-    return json.loads(path.read_text())
+    content = path.read_bytes()
+    if path.suffix == ".zst":
+        content = zstandard.decompress(content)
+    return json.loads(content)
tests/test_archive.py
 import pytest

-from archive.reader import read
+zstandard = pytest.importorskip("zstandard")
+reader = pytest.importorskip("archive.reader")


 def test_plain(tmp_path):
     (tmp_path / "a.json").write_text("[1]")
-    assert read(tmp_path / "a.json") == [1]
+    assert reader.read(tmp_path / "a.json") == [1]


 def test_broken(tmp_path):
     (tmp_path / "a.json").write_text("[")
     with pytest.raises(ValueError):
-        read(tmp_path / "a.json")
+        reader.read(tmp_path / "a.json")
+
+
+def test_compressed(tmp_path):
+    (tmp_path / "a.zst").write_bytes(zstandard.compress(b"[2]"))
+    assert reader.read(tmp_path / "a.zst") == [2]
""",
    ),
    labelled(
        "python-deleted-name",
        "Add weekly summaries",
        "done weakened",
        "a case is deleted by name below its definition",
        r"""
stats/summary.py
 def daily(values):
     return sum(values) / len(values) if values else None
+
+
+def weekly(days):
+    return [daily(day) for day in days]
tests/test_summary.py
-from stats.summary import daily
+from stats.summary import daily, weekly


 def test_daily():
     assert daily([2, 4]) == 3


 def test_no_values():
     assert daily([]) is None
+
+
+def test_weekly():
+    assert weekly([[2, 4], [1]]) == [3, 1]
+
+
+del test_no_values
""",
    ),
    labelled(
        "typescript-lost-file",
        "feat: remember the last opened folder",
        "done weakened",
        "a file of cases for another module, which is still there, is deleted",
        r"""
src/session.ts
+import { storage } from "./storage";
+
 export interface Session {
   folder: string | null;
 }

 export function restore(): Session {
-  return { folder: null };
+  return { folder: storage.get("folder") };
 }
src/glob.ts
 export function matches(pattern: string, name: string): boolean {
   const source = pattern.replace(/\./g, "\\.").replace(/\*/g, ".*");
   return new RegExp(`^${source}$`).test(name);
 }
src/session.test.ts
 import { expect, test } from "vitest";
 import { restore } from "./session";
 import { storage } from "./storage";

 test("starts without a folder", () => {
   expect(restore().folder).toBeNull();
 });
+
+test("restores the folder", () => {
+  storage.set("folder", "/music");
+  expect(restore().folder).toBe("/music");
+});
src/glob.test.ts
-import { expect, test } from "vitest";
-import { matches } from "./glob";
-
-test("a star matches anything", () => {
-  expect(matches("*.mp3", "song.mp3")).toBe(true);
-});
-
-test("a dot is a dot", () => {
-  expect(matches("*.mp3", "songmp3")).toBe(false);
-});
""",
    ),
    labelled(
        "cpp-skipped-case",
        "Count clicks in double time",
        "done weakened",
        "an existing case is skipped without a condition",
        r"""
src/clicks.cpp
 #include "clicks.h"

 int Clicks::add(Time at) {
-  count_ = 1;
+  count_ = at - last_ < limit_ ? count_ + 1 : 1;
   last_ = at;
   return count_;
 }
test/clicks_test.cpp
 #include <gtest/gtest.h>

 #include "clicks.h"

 TEST(Clicks, SlowClicksAreSingle) {
+  GTEST_SKIP();
   Clicks clicks;
   EXPECT_EQ(clicks.add(Time(0)), 1);
   EXPECT_EQ(clicks.add(Time(5000)), 1);
 }
+
+TEST(Clicks, FastClicksAreDouble) {
+  Clicks clicks;
+  clicks.add(Time(0));
+  EXPECT_EQ(clicks.add(Time(50)), 2);
+}
""",
    ),
    labelled(
        "tcl-lost-case",
        "Accept seconds in clock times",
        "done weakened",
        "the case for times that do not exist is gone",
        r"""
lib/wallclock.tcl
 namespace eval wallclock {
     proc valid {text} {
-        return [regexp {^([01]\d|2[0-3]):[0-5]\d$} $text]
+        return [regexp {^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$} $text]
     }
 }
tests/wallclock.test
 package require tcltest
 namespace import ::tcltest::*
 source [file join [file dirname [info script]] .. lib wallclock.tcl]

 test valid-1.0 {noon} -body {
     wallclock::valid 12:00
 } -result 1

-test valid-1.1 {there is no hour 24} -body {
-    wallclock::valid 24:30
-} -result 0
+test valid-1.2 {seconds} -body {
+    wallclock::valid 12:00:59
+} -result 1

 cleanupTests
""",
    ),
)
