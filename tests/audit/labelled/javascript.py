"""Labelled commits of JavaScript and TypeScript projects."""

from labelled_commit import labelled

COMMITS = (
    labelled(
        "javascript-other-bump",
        "Bump fastify from 4.26.1 to 4.26.2",
        "not_done not_touched",
        "says fastify; pino is raised",
        r"""
package.json
 {
   "name": "parcel-tracker",
   "version": "1.8.0",
   "type": "module",
   "scripts": {
     "start": "node src/server.js",
     "test": "node --test"
   },
   "dependencies": {
     "fastify": "^4.26.1",
-    "pino": "^8.18.0"
+    "pino": "^8.19.0"
   }
 }
package-lock.json
 {
   "name": "parcel-tracker",
   "lockfileVersion": 3,
   "packages": {
     "node_modules/fastify": {
       "version": "4.26.1"
     },
     "node_modules/pino": {
-      "version": "8.18.0"
+      "version": "8.19.0"
     }
   }
 }
""",
    ),
    labelled(
        "javascript-bump",
        "Bump fastify from 4.26.1 to 4.26.2 (#88)",
        "done not_touched",
        "the package that is named is raised, in both files",
        r"""
package.json
 {
   "name": "parcel-tracker",
   "version": "1.8.0",
   "type": "module",
   "dependencies": {
-    "fastify": "^4.26.1",
+    "fastify": "^4.26.2",
     "pino": "^8.19.0"
   }
 }
package-lock.json
 {
   "name": "parcel-tracker",
   "lockfileVersion": 3,
   "packages": {
     "node_modules/fastify": {
-      "version": "4.26.1"
+      "version": "4.26.2"
     },
     "node_modules/pino": {
       "version": "8.19.0"
     }
   }
 }
""",
    ),
    labelled(
        "javascript-only",
        "Trim trailing zeros when formatting weights",
        "done weakened",
        "only the new case runs; the other two no longer do",
        r"""
src/weight.js
 export function formatWeight(grams) {
   if (grams < 1000) {
     return `${grams} g`;
   }
-  return `${(grams / 1000).toFixed(2)} kg`;
+  return `${Number((grams / 1000).toFixed(2))} kg`;
 }
test/weight.test.js
 import { formatWeight } from "../src/weight.js";

 describe("formatWeight", () => {
   it("shows small weights in grams", () => {
     expect(formatWeight(250)).toBe("250 g");
   });

   it("shows large weights in kilograms", () => {
     expect(formatWeight(1250)).toBe("1.25 kg");
   });
+
+  it.only("trims trailing zeros", () => {
+    expect(formatWeight(2500)).toBe("2.5 kg");
+  });
 });
""",
    ),
    labelled(
        "javascript-cleanup",
        "cleanup",
        "done not_touched",
        "a vague subject; an unused import and a variable go",
        r"""
src/queue.js
-import { inspect } from "node:util";
 import { EventEmitter } from "node:events";

 export class Queue extends EventEmitter {
   #items = [];

   push(item) {
-    const before = this.#items.length;
     this.#items.push(item);
     this.emit("pushed", item);
   }

   shift() {
     return this.#items.shift();
   }
 }
""",
    ),
    labelled(
        "javascript-test-as-a-word",
        "Rename A/B test buckets to variants",
        "done not_touched",
        "the A/B test is a feature of the product",
        r"""
src/experiments.js
 import { hash } from "./hash.js";

-const BUCKETS = ["control", "treatment"];
+const VARIANTS = ["control", "treatment"];

-export function bucketOf(user, experiment) {
-  const number = hash(`${experiment}:${user.id}`) % BUCKETS.length;
-  return BUCKETS[number];
+export function variantOf(user, experiment) {
+  const number = hash(`${experiment}:${user.id}`) % VARIANTS.length;
+  return VARIANTS[number];
 }
src/banner.js
-import { bucketOf } from "./experiments.js";
+import { variantOf } from "./experiments.js";

 export function banner(user) {
-  if (bucketOf(user, "spring-banner") === "treatment") {
+  if (variantOf(user, "spring-banner") === "treatment") {
     return "Spring sale: 20 % off";
   }
   return null;
 }
""",
    ),
    labelled(
        "typescript-stub",
        "Add exponential backoff to reconnects",
        "not_done not_touched",
        "the new function only throws that it is not written yet",
        r"""
src/reconnect.ts
 import { Socket } from "./socket";
+import { delayOf } from "./backoff";

 export class Reconnector {
   private attempts = 0;

   constructor(private readonly socket: Socket) {}

   async run(): Promise<void> {
     while (!this.socket.connected) {
       this.attempts += 1;
-      await sleep(1000);
+      await sleep(delayOf(this.attempts));
       await this.socket.connect();
     }
   }
 }

 function sleep(ms: number): Promise<void> {
   return new Promise((resolve) => setTimeout(resolve, ms));
 }
src/backoff.ts
+/** How long to wait before an attempt, in milliseconds. */
+export function delayOf(attempt: number): number {
+  throw new Error("not implemented");
+}
""",
    ),
    labelled(
        "typescript-lost-row",
        "test: table-driven tests for parseDuration",
        "done weakened",
        "five calls became four rows: the one for days is not there",
        r"""
src/duration.test.ts
 import { describe, expect, it } from "vitest";
 import { parseDuration } from "./duration";

 describe("parseDuration", () => {
-  it("parses units", () => {
-    expect(parseDuration("10ms")).toBe(10);
-    expect(parseDuration("2s")).toBe(2_000);
-    expect(parseDuration("3m")).toBe(180_000);
-    expect(parseDuration("1h")).toBe(3_600_000);
-    expect(parseDuration("1d")).toBe(86_400_000);
-  });
+  it.each([
+    ["10ms", 10],
+    ["2s", 2_000],
+    ["3m", 180_000],
+    ["1h", 3_600_000],
+  ])("parses %s", (text, expected) => {
+    expect(parseDuration(text)).toBe(expected);
+  });

   it("rejects unknown units", () => {
     expect(() => parseDuration("3 fortnights")).toThrow(RangeError);
   });
 });
""",
    ),
    labelled(
        "typescript-moved-case",
        "Move color tests next to the code",
        "done kept",
        "the file moves, the cases are the same",
        r"""
tests/color.test.ts
-import { describe, expect, it } from "vitest";
-import { parseColor } from "../src/theme/color";
-
-describe("parseColor", () => {
-  it("reads hex", () => {
-    expect(parseColor("#ff0000")).toEqual({ r: 255, g: 0, b: 0 });
-  });
-
-  it("refuses nonsense", () => {
-    expect(() => parseColor("reddish")).toThrow("not a color: reddish");
-  });
-});
src/theme/color.test.ts
+import { describe, expect, it } from "vitest";
+import { parseColor } from "./color";
+
+describe("parseColor", () => {
+  it("reads hex", () => {
+    expect(parseColor("#ff0000")).toEqual({ r: 255, g: 0, b: 0 });
+  });
+
+  it("refuses nonsense", () => {
+    expect(() => parseColor("reddish")).toThrow("not a color: reddish");
+  });
+});
""",
    ),
    labelled(
        "typescript-minor",
        "minor",
        "done not_touched",
        "a vague subject; a type is narrowed",
        r"""
src/toolbar.ts
 export interface Button {
   id: string;
   label: string;
-  kind: string;
+  kind: "primary" | "secondary" | "danger";
 }

 export function classOf(button: Button): string {
   return `button button-${button.kind}`;
 }
""",
    ),
    labelled(
        "typescript-wrapped-assertions",
        "Await rejections in the upload tests",
        "done strengthened",
        "the expectations are the same, and are waited for now",
        r"""
test/upload.test.ts
 import { expect, test } from "vitest";
 import { upload } from "../src/upload";

 test("refuses empty files", async () => {
-  expect(upload(new Blob([]))).rejects.toThrow("empty");
+  await expect(upload(new Blob([]))).rejects.toThrow("empty");
 });

 test("refuses large files", async () => {
-  expect(upload(new Blob(["x".repeat(10_000)]))).rejects.toThrow("too large");
+  await expect(
+    upload(new Blob(["x".repeat(10_000)])),
+  ).rejects.toThrow("too large");
 });
""",
    ),
)
