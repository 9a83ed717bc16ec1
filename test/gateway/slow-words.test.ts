import { afterEach, beforeEach, expect, test } from "vitest";
import { oneTenant, startRig, type Rig } from "./rig.ts";
import { always } from "./scripted-upstream.ts";
import { event, inChunk, lastChunk, response, streamHead } from "./wire.ts";

// One per test: a gateway that is kept busy by one of these serves nobody any more.
let rig: Rig;
beforeEach(async () => {
  rig = await startRig({ document: (url) => oneTenant(url) });
});
afterEach(() => rig.stop());

/** What patterns that look for one thing behind another are slow to read: a client can have its upstream repeat any of these. */
const UNITS = [
  "\n",
  " ",
  "\n ",
  "\n at a:1",
  "a.",
  "a-",
  "a//",
  "/a",
  "://",
  "model ",
  "stream ",
  "not ",
  "key",
  '"',
  "{",
];

test("error texts of any make are read in no time that others would notice", async () => {
  for (const unit of UNITS) {
    const message = `x${unit.repeat(60_000).slice(0, 50_000)}x`;
    const error = { error: { message, type: "server_error", code: "words", param: null } };
    for (const bytes of [
      response(400, JSON.stringify(error)),
      response(404, message, "", "text/plain"),
      streamHead() + inChunk(event(error)) + lastChunk,
    ]) {
      const model = rig.model("m/");
      rig.upstream.answer(model, always(bytes));
      const answer = await rig.ask({ model, stream: true }, { signal: AbortSignal.timeout(10_000) });
      expect(answer.status, JSON.stringify(unit)).toBeGreaterThanOrEqual(400);
      await answer.text();
    }
  }
});
