import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DONE, encodeEvent, KEEP_ALIVE } from "../../../src/protocol/sse/encode.ts";
import { bytesOf } from "./cut.ts";
import { listDecoder } from "./decoded.ts";

describe("encodeEvent", () => {
  it("writes one data line and a blank line, ended by LF", () => {
    expect(encodeEvent('{"a":1}')).toBe('data: {"a":1}\n\n');
    expect(encodeEvent(DONE)).toBe("data: [DONE]\n\n");
  });

  it("is read back as it was, for every JSON value", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
        const text = JSON.stringify(value);
        expect(
          listDecoder(1_000_000)
            .feed(bytesOf(encodeEvent(text)))
            ?.events.map(({ data }) => data),
        ).toEqual([text]);
      }),
    );
  });

  it("keeps alive with a comment, which is no event", () => {
    expect(KEEP_ALIVE).toBe(": keep-alive\n\n");
    expect(listDecoder(100).feed(bytesOf(KEEP_ALIVE))?.events).toEqual([]);
  });
});
