import { describe, expect, it } from "vitest";
import { createStreamingMemory, type StreamingKey } from "../../src/upstream/streaming-memory.ts";

const KEY: StreamingKey = { tenant: "acme", upstream: "gpu", model: "m", combination: "|||" };
const model = (n: number): StreamingKey => ({ ...KEY, model: `m${n}` });

describe("createStreamingMemory", () => {
  it("knows nothing at first", () => expect(createStreamingMemory().recall(KEY, 0)).toEqual({}));

  it("knows what it was taught, for that key alone", () => {
    const memory = createStreamingMemory();
    memory.learn(KEY, { noStream: true }, 0);
    expect(memory.recall({ ...KEY }, 1)).toEqual({ noStream: true });
    for (const other of [{ tenant: "other" }, { upstream: "cpu" }, { model: "n" }, { combination: "tools|||" }]) {
      expect(memory.recall({ ...KEY, ...other }, 1)).toEqual({});
    }
  });

  it("does not mistake one key for another, however the names are made", () => {
    const memory = createStreamingMemory();
    memory.learn({ tenant: 'a","b', upstream: "c", model: "d", combination: "" }, { noStream: true }, 0);
    memory.learn({ tenant: "a|b", upstream: "c", model: "d", combination: "" }, { noStream: true }, 0);
    for (const key of [
      { tenant: "a", upstream: 'b","c', model: "d", combination: "" },
      { tenant: "a", upstream: "b|c", model: "d", combination: "" },
      { tenant: "a", upstream: "b", model: "c|d", combination: "" },
    ])
      expect(memory.recall(key, 1)).toEqual({});
  });

  it("adds what is learned later", () => {
    const memory = createStreamingMemory();
    memory.learn(KEY, { noOptions: true }, 0);
    memory.learn(KEY, { noStream: true }, 1);
    expect(memory.recall(KEY, 2)).toEqual({ noOptions: true, noStream: true });
  });

  it("forgets after its time, so that the upstream is asked anew", () => {
    const memory = createStreamingMemory(10, 1000);
    memory.learn(KEY, { noStream: true }, 5000);
    expect(memory.recall(KEY, 5999)).toEqual({ noStream: true });
    expect(memory.recall(KEY, 6000)).toEqual({});
    expect(memory.recall(KEY, 5500)).toEqual({});
  });

  it("learns nothing from what is over", () => {
    const memory = createStreamingMemory(10, 1000);
    memory.learn(KEY, { noStream: true }, 0);
    memory.learn(KEY, { noOptions: true }, 2000);
    expect(memory.recall(KEY, 2001)).toEqual({ noOptions: true });
  });

  it("is bounded: the oldest goes", () => {
    const memory = createStreamingMemory(3);
    for (let n = 0; n < 4; n++) memory.learn(model(n), { noStream: true }, n);
    expect([0, 1, 2, 3].map((n) => memory.recall(model(n), 10).noStream)).toEqual([undefined, true, true, true]);
  });

  it("what was learned anew is not the oldest", () => {
    const memory = createStreamingMemory(3);
    for (let n = 0; n < 3; n++) memory.learn(model(n), { noStream: true }, n);
    memory.learn(model(0), { noStream: true }, 5);
    memory.learn(model(3), { noStream: true }, 6);
    expect([0, 1, 2, 3].map((n) => memory.recall(model(n), 10).noStream)).toEqual([true, undefined, true, true]);
  });
});
