import { MAX_EVENT_BYTES, type AnswerStream } from "../answer-form.ts";
import { createAnswerStream } from "../answer-stream.ts";
import { createConform, type ConformOptions } from "./conform.ts";

export function createChatStream(
  options: Omit<ConformOptions, "runs">,
  maxEventBytes: number = MAX_EVENT_BYTES,
): AnswerStream {
  return createAnswerStream((sink, runs) => createConform({ ...options, runs }, sink), maxEventBytes);
}
