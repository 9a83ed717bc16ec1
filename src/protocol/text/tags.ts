/** Finds tags in a text that grows. */
export interface TagFinder {
  /** The first tag at or behind `from`. */
  find(text: string, from?: number): { readonly index: number; readonly tag: string } | undefined;
  /** Where the longest end of the text begins that may grow into a tag; the length of the text if there is none. */
  holdAt(text: string): number;
}

const escaped = (tag: string): string => tag.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

const finders = new Map<string, TagFinder>();

/** The finder of these tags. It keeps no state between calls, so all who look for the same tags share one. */
export function tagFinder(tags: readonly string[]): TagFinder {
  const key = tags.join("\0");
  const finder = finders.get(key) ?? createTagFinder(tags);
  finders.set(key, finder);
  return finder;
}

function createTagFinder(tags: readonly string[]): TagFinder {
  if (tags.length === 0) return { find: () => undefined, holdAt: (text) => text.length };
  // Of two tags that begin at the same place the longer one counts.
  const sorted = [...new Set(tags)].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(sorted.map(escaped).join("|"), "g");
  const prefixes = new Set(tags.flatMap((tag) => Array.from(tag, (_, i) => tag.slice(0, i + 1)).slice(0, -1)));
  const firsts = new Set(tags.map((tag) => tag.charCodeAt(0)));
  const longest = Math.max(...tags.map((tag) => tag.length));
  return {
    find(text, from = 0) {
      pattern.lastIndex = from;
      const match = pattern.exec(text);
      return match === null ? undefined : { index: match.index, tag: match[0] };
    },
    holdAt(text) {
      for (let at = Math.max(0, text.length - longest + 1); at < text.length; at++) {
        if (firsts.has(text.charCodeAt(at)) && prefixes.has(text.slice(at))) return at;
      }
      return text.length;
    },
  };
}

const NOT_BLANK = /\S/;

export const isBlank = (text: string): boolean => !NOT_BLANK.test(text);
