import type { AnswerForm } from "../answer-form.ts";
import { DONE, encodeEvent } from "../sse/encode.ts";
import { createChatGather } from "./aggregate.ts";
import { conformCompletion } from "./completion.ts";
import { reframe } from "./reframe.ts";
import { createChatStream } from "./stream.ts";
import type { AnswerShape } from "./types.ts";

/** The answers of `/chat/completions`. */
export function chatForm(shape: AnswerShape): AnswerForm {
  return {
    stream: (identity) => createChatStream({ shape, identity }),
    gather: (identity) => createChatGather({ shape, identity }),
    whole: (text, identity) => conformCompletion(text, shape, identity),
    reframed: ({ body }) =>
      reframe(body, { includeUsage: shape.includeUsage })
        .map((chunk) => encodeEvent(JSON.stringify(chunk)))
        .join("") + encodeEvent(DONE),
  };
}
