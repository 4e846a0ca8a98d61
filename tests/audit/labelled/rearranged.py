"""Labelled commits that rearrange tests: the same is asked in other words or at another place."""

from labelled_commit import labelled

COMMITS = (
    labelled(
        "javascript-chai-to-node",
        "Replace chai with node:assert",
        "done kept",
        "each expectation has its counterpart",
        r"""
test/stack.test.js
-import { expect } from "chai";
+import assert from "node:assert/strict";
 import { Stack } from "../src/stack.js";

 describe("Stack", () => {
   it("pops the last value", () => {
     const stack = new Stack([1, 2]);
-    expect(stack.pop()).to.equal(2);
-    expect(stack.size).to.equal(1);
+    assert.equal(stack.pop(), 2);
+    assert.equal(stack.size, 1);
   });

   it("cannot pop when empty", () => {
-    expect(() => new Stack([]).pop()).to.throw(RangeError);
+    assert.throws(() => new Stack([]).pop(), RangeError);
   });
 });
""",
    ),
    labelled(
        "go-testify",
        "Use testify in the wallet tests",
        "done kept",
        "each comparison became a call that compares the same",
        r"""
wallet/wallet_test.go
 package wallet

-import "testing"
+import (
+    "testing"
+
+    "github.com/stretchr/testify/require"
+)

 func TestSpend(t *testing.T) {
     w := New(10)
-    if err := w.Spend(4); err != nil {
-        t.Fatalf("Spend: %v", err)
-    }
-    if w.Balance() != 6 {
-        t.Errorf("Balance() = %d, want 6", w.Balance())
-    }
+    require.NoError(t, w.Spend(4))
+    require.Equal(t, 6, w.Balance())
 }

 func TestSpendTooMuch(t *testing.T) {
-    if err := New(1).Spend(2); err != ErrFunds {
-        t.Errorf("got %v, want ErrFunds", err)
-    }
+    require.Equal(t, ErrFunds, New(1).Spend(2))
 }
""",
    ),
    labelled(
        "rust-rstest",
        "Use rstest for leap years",
        "done kept",
        "four assertions became four cases",
        r"""
tests/leap.rs
+use rstest::rstest;
 use calendar::is_leap;

-#[test]
-fn leap_years() {
-    assert_eq!(is_leap(2024), true);
-    assert_eq!(is_leap(2023), false);
-    assert_eq!(is_leap(1900), false);
-    assert_eq!(is_leap(2000), true);
-}
+#[rstest]
+#[case(2024, true)]
+#[case(2023, false)]
+#[case(1900, false)]
+#[case(2000, true)]
+fn leap_years(#[case] year: i32, #[case] expected: bool) {
+    assert_eq!(is_leap(year), expected);
+}
""",
    ),
    labelled(
        "python-moved-to-another-file",
        "Split the parser tests by format",
        "done kept",
        "the cases for YAML stand in a file of their own",
        r"""
tests/test_parsers.py
 import pytest

-from recipes.parsers import parse_json, parse_yaml
+from recipes.parsers import parse_json


 def test_json():
     assert parse_json('{"eggs": 2}') == {"eggs": 2}
-
-
-def test_yaml():
-    assert parse_yaml("eggs: 2") == {"eggs": 2}
-
-
-def test_yaml_with_tabs():
-    with pytest.raises(ValueError, match="tab"):
-        parse_yaml("\teggs: 2")


 def test_broken_json():
     with pytest.raises(ValueError):
         parse_json("{")
tests/test_yaml.py
+import pytest
+
+from recipes.parsers import parse_yaml
+
+
+def test_yaml():
+    assert parse_yaml("eggs: 2") == {"eggs": 2}
+
+
+def test_yaml_with_tabs():
+    with pytest.raises(ValueError, match="tab"):
+        parse_yaml("\teggs: 2")
""",
    ),
    labelled(
        "java-assertj",
        "Switch PlaylistTest to AssertJ",
        "done kept",
        "containsExactly asks for the size and both elements",
        r"""
src/test/java/org/music/PlaylistTest.java
 package org.music;

-import static org.junit.jupiter.api.Assertions.assertEquals;
+import static org.assertj.core.api.Assertions.assertThat;

 import org.junit.jupiter.api.Test;

 class PlaylistTest {
     @Test
     void keepsTheOrder() {
         Playlist playlist = new Playlist();
         playlist.add("Gymnopédie");
         playlist.add("Bolero");
-        assertEquals(2, playlist.titles().size());
-        assertEquals("Gymnopédie", playlist.titles().get(0));
-        assertEquals("Bolero", playlist.titles().get(1));
+        assertThat(playlist.titles()).containsExactly("Gymnopédie", "Bolero");
     }
 }
""",
    ),
    labelled(
        "shell-renamed-test",
        "Number the tests of the parser from 0200",
        "done kept",
        "a file moves, its checks are the same",
        r"""
t/t0007-parse.sh
-#!/bin/sh
-test_description='parse reads settings'
-. ./test-lib.sh
-
-test_expect_success 'parse reads a pair' '
-    echo "a=1" >settings &&
-    test "$(parse settings a)" = 1
-'
-
-test_done
t/t0200-parse.sh
+#!/bin/sh
+test_description='parse reads settings'
+. ./test-lib.sh
+
+test_expect_success 'parse reads a pair' '
+    echo "a=1" >settings &&
+    test "$(parse settings a)" = 1
+'
+
+test_done
""",
    ),
)
