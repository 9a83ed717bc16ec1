/** A limit ran out; `name` is the one in the configuration. */
export class DeadlineExceeded extends Error {
  override name = "DeadlineExceeded" as const;
  readonly limit: string;
  constructor(limit: string) {
    super(`${limit} exceeded`);
    this.limit = limit;
  }
}

/** One limit at a time, for one exchange. */
export interface Deadline {
  /** From now on, `limit` counts: `ms` from now. */
  set(limit: string, ms: number): void;
  /**
   * Nothing counts until the next `set`: while a slow client is being written to, no upstream is late. The timer stays, and finds
   * nothing to do: it goes with the request, and taking it back would cost as much as setting it did.
   */
  pause(): void;
}

/**
 * One timer for the life of an exchange, however often the limit moves: a timer per read costs as much as the read. When it
 * fires too early it is set again for the rest.
 * @param usualMs how long the timer runs at the most, so that a limit of that length needs no other one than a longer one before it
 */
export function createDeadline(
  now: () => number,
  usualMs: number,
  expire: (reason: DeadlineExceeded) => void,
): Deadline {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let firesAt = 0;
  let dueAt = 0;
  let name = "";
  const arm = (at: number): void => {
    clearTimeout(timer);
    const ms = Math.min(Math.max(at - now(), 0), usualMs);
    firesAt = now() + ms;
    timer = setTimeout(fire, ms);
  };
  const fire = (): void => {
    timer = undefined;
    if (dueAt === 0) return;
    if (now() >= dueAt) expire(new DeadlineExceeded(name));
    else arm(dueAt);
  };
  return {
    set(limit, ms): void {
      name = limit;
      dueAt = now() + ms;
      if (timer === undefined || dueAt < firesAt) arm(dueAt);
    },
    pause(): void {
      dueAt = 0;
    },
  };
}
