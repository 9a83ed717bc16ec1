import type { ChoicePass } from "../chat/pass.ts";
import { textOf } from "../chat/text.ts";
import { createSpecialTokens } from "./special-tokens.ts";

/** Takes leaked special tokens off the end of an answer whose text is otherwise left alone. */
export function createEnding(): ChoicePass {
  const special = createSpecialTokens();
  return {
    get idle() {
      return !special.holding;
    },
    take(delta) {
      const content = textOf(delta["content"]);
      if (content === null || content === "") return [delta];
      const text = special.take(content);
      return text === content ? [delta] : [{ ...delta, content: text === "" ? null : text }];
    },
    end(finish) {
      const { text, calls } = special.end();
      return {
        deltas: text === "" ? [] : [{ content: text }],
        finish: calls && finish === "stop" ? "tool_calls" : finish,
      };
    },
  };
}
