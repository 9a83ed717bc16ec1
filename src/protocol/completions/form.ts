import { MAX_ANSWER_BYTES, MAX_EVENT_BYTES, type AnswerForm } from "../answer-form.ts";
import { createAnswerGather } from "../answer-gather.ts";
import { createAnswerStream } from "../answer-stream.ts";
import { isObject } from "../json/lossless.ts";
import { DONE, encodeEvent } from "../sse/encode.ts";
import { createTextAggregate } from "./aggregate.ts";
import { conformTextCompletion } from "./completion.ts";
import { createTextConform } from "./conform.ts";
import { reframeText } from "./reframe.ts";
import type { Place, TextShape } from "./types.ts";

/** The answers of `/completions`. @param place where the answer stands, if the client reads it as a part of another one */
export function textForm(shape: TextShape, place?: Place): AnswerForm {
  const last = place?.last ?? true;
  return {
    stream: (identity) =>
      createAnswerStream((sink) => createTextConform({ shape, identity, place }, sink), MAX_EVENT_BYTES, last),
    gather: (identity) =>
      createAnswerGather(
        (sink) => createTextConform({ shape, identity }, sink),
        createTextAggregate(),
        MAX_EVENT_BYTES,
        MAX_ANSWER_BYTES,
      ),
    whole: (text, identity) => conformTextCompletion(text, identity),
    reframed({ body }): string {
      const usage = isObject(body["usage"]) ? body["usage"] : undefined;
      const total = place === undefined ? usage : place.total(usage);
      const chunks = reframeText({ ...body, usage: total }, shape.includeUsage && last);
      return (
        chunks.map((chunk) => encodeEvent(JSON.stringify(placed(chunk, place)))).join("") +
        (last ? encodeEvent(DONE) : "")
      );
    },
  };
}

type Chunk = ReturnType<typeof reframeText>[number];

function placed(chunk: Chunk, place: Place | undefined): Chunk {
  if (place === undefined) return chunk;
  const choices = chunk.choices.map((choice) => ({ ...choice, index: Number(choice["index"]) + place.offset }));
  const { usage } = chunk;
  return { ...place.head.rewrite(chunk, choices), ...(usage === undefined ? {} : { usage }) };
}
