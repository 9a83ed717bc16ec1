import type { AnswerForm } from "../answer-form.ts";
import { invalidAnswer } from "../upstream-error.ts";
import { err } from "../result.ts";
import { conformEmbeddings, type VectorShape } from "./answer.ts";

/** The answers of `/embeddings`, which come whole: a stream of them is no answer. */
export function embeddingsForm(shape: VectorShape): AnswerForm {
  return {
    whole: (text, identity) => conformEmbeddings(text, shape, identity),
    gather: () => ({
      state: { answered: false, finished: false, progress: 0, outcome: undefined },
      feed: () => undefined,
      end: (failure) => err(failure ?? { error: invalidAnswer("events where one JSON answer was due") }),
    }),
    stream(): never {
      throw new TypeError("embeddings are never streamed");
    },
    reframed(): never {
      throw new TypeError("embeddings are never streamed");
    },
  };
}
