import { describe, expect, it } from "vitest";
import { createDeadline, DeadlineExceeded, type Deadline } from "../../src/upstream/deadline.ts";

/** A deadline over a clock of its own; the real timers only wake it up. */
function watched(): {
  deadline: Deadline;
  advance: (ms: number) => void;
  expired: DeadlineExceeded[];
  settle: () => Promise<void>;
} {
  let clock = 1_000_000;
  const expired: DeadlineExceeded[] = [];
  const deadline = createDeadline(
    () => clock,
    60_000,
    (reason) => expired.push(reason),
  );
  return {
    deadline,
    expired,
    advance: (ms) => void (clock += ms),
    settle: () => new Promise((wake) => setTimeout(wake, 60)),
  };
}

describe("createDeadline", () => {
  it("expires with the name of the limit, once", async () => {
    const { deadline, advance, expired, settle } = watched();
    deadline.set("idle_ms", 10);
    advance(10);
    await settle();
    await settle();
    expect(expired.map(({ limit, name, message }) => [limit, name, message])).toEqual([
      ["idle_ms", "DeadlineExceeded", "idle_ms exceeded"],
    ]);
  });

  it("a later limit replaces an earlier one", async () => {
    const { deadline, advance, expired, settle } = watched();
    deadline.set("first_event_ms", 10);
    deadline.set("idle_ms", 10_000);
    advance(20);
    await settle();
    expect(expired).toEqual([]);
    deadline.pause();
  });

  it("an earlier limit replaces a later one", async () => {
    const { deadline, advance, expired, settle } = watched();
    deadline.set("first_event_ms", 1_000_000);
    deadline.set("idle_ms", 5);
    advance(5);
    await settle();
    expect(expired.map(({ limit }) => limit)).toEqual(["idle_ms"]);
  });

  it("does not expire while it is moved", async () => {
    const { deadline, advance, expired, settle } = watched();
    for (let i = 0; i < 5; i++) {
      deadline.set("idle_ms", 100);
      advance(50);
      await settle();
    }
    expect(expired).toEqual([]);
    advance(51);
    await new Promise((wake) => setTimeout(wake, 300));
    expect(expired.map(({ limit }) => limit)).toEqual(["idle_ms"]);
  });

  it("does not expire when it was cleared", async () => {
    const { deadline, advance, expired, settle } = watched();
    deadline.set("idle_ms", 5);
    deadline.pause();
    advance(100);
    await settle();
    expect(expired).toEqual([]);
    deadline.pause();
  });

  it("can be set again after it was cleared, and after it has expired", async () => {
    const { deadline, advance, expired, settle } = watched();
    deadline.set("first_event_ms", 5);
    deadline.pause();
    deadline.set("idle_ms", 5);
    advance(5);
    await settle();
    deadline.set("total_ms", 5);
    advance(5);
    await settle();
    expect(expired.map(({ limit }) => limit)).toEqual(["idle_ms", "total_ms"]);
  });

  it("expires at once when nothing is left", async () => {
    const { deadline, expired, settle } = watched();
    deadline.set("total_ms", 0);
    await settle();
    expect(expired.map(({ limit }) => limit)).toEqual(["total_ms"]);
  });
});
