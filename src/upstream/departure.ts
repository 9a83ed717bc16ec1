/**
 * The client's leaving, told to the one exchange that is open. A promise-like signal of the platform's would do, but each that a
 * stream makes costs as much as reading its first chunk.
 */
export interface Departure {
  /** The client has left. */
  readonly left: boolean;
  leave(): void;
  /** Who is told; undefined: nobody any more. */
  tell(listener: (() => void) | undefined): void;
  /** Listens no longer. */
  end(): void;
}

/** @param signal fires when the whole that this is a part of is given up, which is as good as left; undefined: only `leave` says so */
export function createDeparture(signal?: AbortSignal): Departure {
  let left = signal?.aborted === true;
  let listener: (() => void) | undefined;
  const leave = (): void => {
    left = true;
    listener?.();
  };
  signal?.addEventListener("abort", leave);
  return {
    get left() {
      return left;
    },
    leave,
    tell(told): void {
      listener = told;
    },
    end(): void {
      signal?.removeEventListener("abort", leave);
    },
  };
}
