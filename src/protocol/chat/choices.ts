import type { JsonObject } from "../json/lossless.ts";

const MOST_CHOICES = 128;

/** The choices of one answer, under the indexes that the client sees. */
export interface Choices<T> {
  /**
   * The choice that an element of `choices` belongs to; without an index of its own it is the one at its place. `inOrder`: those that
   * should have begun before it are there then, too. Undefined: there are more choices than can be.
   */
  of(wire: JsonObject, place: number, inOrder?: boolean): T | undefined;
  /** In the order of their indexes. */
  list(): T[];
  readonly size: number;
  every(test: (choice: T) => boolean): boolean;
  count(test: (choice: T) => boolean): number;
}

/** @param n how many choices the request asked for @param most how many there may be */
export function createChoices<T extends { readonly index: number }>(
  n: number,
  create: (index: number) => T,
  most: number = MOST_CHOICES,
): Choices<T> {
  const choices = new Map<number, T>();
  const renumbered = new Map<number, number>();

  const at = (index: number): T | undefined => {
    const known = choices.get(index);
    if (known !== undefined || choices.size >= most) return known;
    const choice = create(index);
    choices.set(index, choice);
    return choice;
  };

  /** Clients take an index beyond `n` for an error: such a choice gets the first free place. */
  const within = (raw: number): number => {
    if (raw < n) return raw;
    let index = renumbered.get(raw);
    if (index === undefined) {
      let free = 0;
      while (choices.has(free)) free++;
      index = free < n ? free : raw;
      renumbered.set(raw, index);
    }
    return index;
  };

  return {
    of(wire, place, inOrder = false): T | undefined {
      const own = wire["index"];
      const index = within(typeof own === "number" && Number.isInteger(own) && own >= 0 ? own : place);
      const known = choices.get(index);
      if (known !== undefined) return known;
      for (let before = 0; inOrder && before < Math.min(index, n); before++)
        if (at(before) === undefined) return undefined;
      return at(index);
    },
    list: () => [...choices.values()].sort((a, b) => a.index - b.index),
    get size() {
      return choices.size;
    },
    every: (test) => choices.values().every(test),
    count: (test) => choices.values().reduce((sum, choice) => (test(choice) ? sum + 1 : sum), 0),
  };
}
