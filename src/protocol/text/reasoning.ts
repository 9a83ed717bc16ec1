import type { ReasoningFamily, ThoughtForm } from "./reasoning-families.ts";
import type { TextPiece, TextStage } from "./stage.ts";
import { tagFinder, type TagFinder } from "./tags.ts";

export interface ReasoningOptions {
  readonly family: ReasoningFamily;
  /** Whether the opening tag is in the prompt; the family's own word if it is not said. */
  readonly opened?: boolean | undefined;
  /** Tags that end a thought without being part of it, as some models begin a call without closing their thought. */
  readonly endsAt?: readonly string[] | undefined;
}

// White space before a thought is no text. More than this of it is.
const MAX_BLANK = 1024;

/**
 * Tells thoughts from the answer. Thoughts are looked for at the start of the text and directly behind other thoughts; later tags are
 * text about tags. A thought that never closes stays one. No character is lost or moved: vLLM too leaves the newlines around the tags.
 */
export function createReasoning({ family, opened = family.opened, endsAt = [] }: ReasoningOptions): TextStage {
  const emptyTags = family.forms.flatMap(({ openings }) =>
    openings
      .filter((tag) => /^<[a-z:]+>$/.test(tag))
      .flatMap((tag) => [tag.replace(">", "/>"), tag.replace(">", " />")]),
  );
  const openings = [...family.forms.flatMap((form) => form.openings), ...emptyTags, ...family.answer.openings];
  const beginning = tagFinder(openings);
  const orphans = tagFinder(family.forms.filter((form) => form.orphan).flatMap((form) => form.closings));
  const thoughtEnd = new Map(family.forms.map((form) => [form, tagFinder([...form.closings, ...endsAt])] as const));
  const answerEnd = tagFinder(family.answer.closings);
  let form: ThoughtForm | undefined = opened ? family.forms[0] : undefined;
  let state: "beginning" | "thought" | "answer" | "rest" = "beginning";
  let orphanPossible = !opened;
  let held = "";
  let pieces: TextPiece[] = [];

  const say = (kind: "text" | "reasoning", text: string): void => {
    if (text !== "") pieces.push({ kind, text });
  };

  /** Looks for the tags at the very start of what is left. Answers what is left then; undefined: more text is needed. */
  const begin = (text: string, ended: boolean): string | undefined => {
    const from = text.length - text.trimStart().length;
    const found = beginning.find(text, from);
    const tag = found?.index === from ? found.tag : undefined;
    const mayGrow = !ended && from < MAX_BLANK && beginning.holdAt(text) <= from;
    if (mayGrow) {
      held = text;
      return undefined;
    }
    if (tag === undefined) {
      const orphan = orphanPossible ? orphans.find(text) : undefined;
      orphanPossible = false;
      state = opened && form !== undefined ? "thought" : "rest";
      if (orphan === undefined) return text;
      say("reasoning", text.slice(0, orphan.index));
      state = "beginning";
      return text.slice(orphan.index + orphan.tag.length);
    }
    orphanPossible = false;
    const rest = text.slice(from + tag.length);
    if (emptyTags.includes(tag)) {
      form = undefined;
      return rest;
    }
    form = family.forms.find((one) => one.openings.includes(tag));
    state = form === undefined ? "answer" : "thought";
    return rest;
  };

  const until = (finder: TagFinder, kind: "text" | "reasoning", text: string, ended: boolean): string | undefined => {
    const found = finder.find(text);
    const end = found?.index ?? (ended ? text.length : finder.holdAt(text));
    say(kind, text.slice(0, end));
    if (found === undefined) {
      held = text.slice(end);
      return undefined;
    }
    form = undefined;
    state = "beginning";
    return text.slice(endsAt.includes(found.tag) ? end : end + found.tag.length);
  };

  const read = (more: string, ended: boolean): TextPiece[] => {
    pieces = [];
    let text: string | undefined = held + more;
    held = "";
    while (text !== undefined && text !== "") {
      if (state === "beginning") text = begin(text, ended);
      else if (state === "thought")
        text = until(thoughtEnd.get(form as ThoughtForm) as TagFinder, "reasoning", text, ended);
      else if (state === "answer") text = until(answerEnd, "text", text, ended);
      else {
        say("text", text);
        break;
      }
    }
    return pieces;
  };

  return {
    take: (text) => read(text, false),
    end: () => read("", true),
  };
}
