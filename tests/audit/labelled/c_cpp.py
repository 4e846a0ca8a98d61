"""Labelled commits of C and C++ projects."""

from labelled_commit import labelled

COMMITS = (
    labelled(
        "c-log-text-for-a-fix",
        "Fix double free in the session cache",
        "not_done not_touched",
        "says the session cache; a log text of the listener changes",
        r"""
src/listener.c
 #include "listener.h"
 #include "log.h"

 int listener_accept(struct listener *l)
 {
     int fd = accept(l->fd, NULL, NULL);
     if (fd < 0) {
-        log_warn("accept failed");
+        log_warn("accept failed on port %d", l->port);
         return -1;
     }
     l->accepted++;
     return fd;
 }
src/session_cache.c
 #include <stdlib.h>
 #include "session_cache.h"

 void session_drop(struct cache *c, struct session *s)
 {
     free(s->data);
     cache_unlink(c, s);
     free(s->data);
     free(s);
 }
""",
    ),
    labelled(
        "c-moved-with-a-loss",
        "Split the base64 tests from the hex tests",
        "done weakened",
        "the check of the padding did not move along",
        r"""
tests/test_encode.c
 #include <assert.h>
 #include <string.h>
 #include "encode.h"

 static void test_hex(void)
 {
     char out[16];
     hex_encode(out, "\x01\xff", 2);
     assert(strcmp(out, "01ff") == 0);
 }

-static void test_base64(void)
-{
-    char out[16];
-    assert(base64_encode(out, "abc", 3) == 4);
-    assert(strcmp(out, "YWJj") == 0);
-    base64_encode(out, "a", 1);
-    assert(strcmp(out, "YQ==") == 0);
-}
-
 int main(void)
 {
     test_hex();
-    test_base64();
     return 0;
 }
tests/test_base64.c
+#include <assert.h>
+#include <string.h>
+#include "encode.h"
+
+static void test_base64(void)
+{
+    char out[16];
+    assert(base64_encode(out, "abc", 3) == 4);
+    assert(strcmp(out, "YWJj") == 0);
+}
+
+int main(void)
+{
+    test_base64();
+    return 0;
+}
""",
    ),
    labelled(
        "c-comment-typo",
        "typo",
        "done not_touched",
        "one word in a comment",
        r"""
src/ring.c
 #include "ring.h"

-/* Returns the number of bytes that were writen, which may be less than n. */
+/* Returns the number of bytes that were written, which may be less than n. */
 size_t ring_write(struct ring *r, const char *data, size_t n)
 {
     size_t done = 0;
     while (done < n && !ring_full(r)) {
         r->buf[r->head] = data[done++];
         r->head = (r->head + 1) % r->size;
     }
     return done;
 }
""",
    ),
    labelled(
        "c-named-test-passes",
        "Make test_offsets pass on big-endian machines",
        "done not_touched",
        "the code is what makes the named test pass",
        r"""
src/offsets.c
 #include <stdint.h>
-#include <string.h>
 #include "offsets.h"

 uint32_t read_offset(const unsigned char *at)
 {
-    uint32_t value;
-    memcpy(&value, at, sizeof(value));
-    return value;
+    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
+           (uint32_t)at[3] << 24;
 }
tests/test_offsets.c
 #include <assert.h>
 #include "offsets.h"

 int main(void)
 {
     const unsigned char data[] = {1, 2, 0, 0};
     assert(read_offset(data) == 513);
     return 0;
 }
""",
    ),
    labelled(
        "c-assertion-as-a-word",
        "Turn the assertion in heap_pop() into an error",
        "done not_touched",
        "the assertion is in the product; no test changes",
        r"""
src/heap.c
-#include <assert.h>
+#include <errno.h>
 #include "heap.h"

 int heap_pop(struct heap *h, int *out)
 {
-    assert(h->count > 0);
+    if (h->count == 0)
+        return -ENOENT;
     *out = h->items[0];
     h->items[0] = h->items[--h->count];
     sift_down(h, 0);
     return 0;
 }
""",
    ),
    labelled(
        "cpp-lower-limit",
        "Merge adjacent spans while rendering",
        "done weakened",
        "an exact count became a lower limit",
        r"""
src/renderer.cpp
 #include "renderer.h"

 std::vector<Span> Renderer::spans(const Line& line) const {
   std::vector<Span> result;
   for (const auto& glyph : line.glyphs) {
+    if (!result.empty() && result.back().style == glyph.style) {
+      result.back().text += glyph.text;
+      continue;
+    }
     result.push_back({glyph.text, glyph.style});
   }
   return result;
 }
test/renderer_test.cpp
 #include <gtest/gtest.h>

 #include "renderer.h"

 TEST(Renderer, SplitsByStyle) {
   Renderer renderer;
   auto spans = renderer.spans(parse("plain *bold* plain"));
-  EXPECT_EQ(spans.size(), 3u);
+  EXPECT_GE(spans.size(), 1u);
   EXPECT_EQ(spans[1].style, Style::Bold);
 }

+TEST(Renderer, MergesAdjacentSpans) {
+  Renderer renderer;
+  EXPECT_EQ(renderer.spans(parse("one two")).size(), 1u);
+}
+
 TEST(Renderer, EmptyLine) {
   EXPECT_TRUE(Renderer().spans(Line{}).empty());
 }
""",
    ),
    labelled(
        "cpp-matchers",
        "Use matchers in the inventory tests",
        "done kept",
        "size and both elements are one matcher that asks for the same",
        r"""
test/inventory_test.cpp
+#include <gmock/gmock.h>
 #include <gtest/gtest.h>

 #include "inventory.h"

+using ::testing::ElementsAre;
+
 TEST(Inventory, ListsNames) {
   Inventory inventory;
   inventory.add("bolt");
   inventory.add("nut");
-  const auto names = inventory.names();
-  ASSERT_EQ(names.size(), 2u);
-  EXPECT_EQ(names[0], "bolt");
-  EXPECT_EQ(names[1], "nut");
+  EXPECT_THAT(inventory.names(), ElementsAre("bolt", "nut"));
 }

 TEST(Inventory, RefusesDuplicates) {
   Inventory inventory;
   inventory.add("bolt");
   EXPECT_THROW(inventory.add("bolt"), std::invalid_argument);
 }
""",
    ),
    labelled(
        "cpp-licence-headers",
        "Add missing license headers",
        "done not_touched",
        "says headers, which are comments",
        r"""
src/inventory.h
+// Copyright 2024 The Stockroom Authors
+// SPDX-License-Identifier: MIT
+
 #pragma once

 #include <string>
 #include <vector>

 class Inventory {
  public:
   void add(const std::string& name);
   std::vector<std::string> names() const;

  private:
   std::vector<std::string> names_;
 };
""",
    ),
)
