import { expect } from "vitest";
import { errorOf, readEvents, type Rig } from "./rig.ts";
import type { Script } from "./scripted-upstream.ts";

export const FORMS = [
  ["a stream", true],
  ["JSON", false],
] as const;

export interface Told {
  readonly status: number;
  readonly text?: string;
  readonly code?: string;
}

/** The answer to one chat request, asked in this form, of an upstream that runs `script`. */
export async function answerTo(rig: Rig, stream: boolean, script: Script, prefix = "m/"): Promise<Response> {
  const model = rig.model(prefix);
  rig.upstream.answer(model, script);
  return rig.ask({ model, stream });
}

/** What the client was told in the end: the whole text, or the code of the one error and the text before it. */
export async function outcomeOf(rig: Rig, stream: boolean, script: Script, prefix?: string): Promise<Told> {
  const answer = await answerTo(rig, stream, script, prefix);
  const { status } = answer;
  if (status !== 200) return { status, code: (await errorOf(answer)).code };
  if (!stream) {
    const body = (await answer.json()) as { choices: { message: { content: string }; finish_reason: string }[] };
    expect(body.choices[0]?.finish_reason).toBe("stop");
    return { status, text: body.choices[0]?.message.content ?? "" };
  }
  const read = readEvents(await answer.text());
  expect(read.behind).toBe(0);
  expect(read.done).toBe(read.error === undefined);
  expect(read.finishes).toHaveLength(read.done ? 1 : 0);
  return { status, text: read.text, ...(read.error === undefined ? {} : { code: read.error.code }) };
}
