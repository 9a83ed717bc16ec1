import type { WholeAnswer } from "../answer-form.ts";
import { failedFinish, failureFromBody, isErrorBody, type Failure } from "../chat/part.ts";
import type { Identity } from "../chat/types.ts";
import { isWholeUsage, wholeUsage } from "../chat/usage.ts";
import { gatewayError } from "../errors.ts";
import {
  deeperThan,
  isObject,
  type JsonObject,
  MAX_DEPTH,
  parseLossless,
  parseTolerant,
  withoutNonFinite,
} from "../json/lossless.ts";
import { err, ok, type Result } from "../result.ts";
import { invalidAnswer } from "../upstream-error.ts";
import { isCleanText, textFinish, textIn } from "./choice.ts";
import { textLogprobs } from "./logprobs.ts";
import { ID_PREFIX, TEXT_COMPLETION } from "./types.ts";

/** Holds one JSON answer of `/completions` to what strict clients rely on; nothing is invented. */
export function conformTextCompletion(text: string, identity: Identity): Result<WholeAnswer, Failure> {
  const parsed = parseTolerant(text);
  if (parsed === undefined)
    return err({ error: invalidAnswer(text.trim() === "" ? "an empty answer" : "an answer that is not JSON") });
  const { value, legal } = parsed;
  if (!isObject(value)) return err({ error: invalidAnswer("an answer that is no JSON object") });
  if (isErrorBody(value)) return err(failureFromBody(undefined, text));
  const { choices } = value;
  if (!Array.isArray(choices) || choices.length === 0)
    return err({ error: invalidAnswer("an answer without choices") });
  if (legal && isClean(value, choices, identity)) return ok({ body: value, text });
  if (deeperThan(value, MAX_DEPTH)) return err({ error: invalidAnswer("an answer that is nested too deeply") });
  return repaired(parseLossless(legal ? text : withoutNonFinite(text)) as JsonObject, identity);
}

function repaired(body: JsonObject, identity: Identity): Result<WholeAnswer, Failure> {
  const { id, created, model, usage, error: _error, choices: list, ...rest } = body;
  const places = (list as unknown[]).map((wire) => (isObject(wire) ? wire["index"] : undefined));
  const trusted =
    new Set(places).size === places.length && places.every((at) => Number.isInteger(at) && Number(at) >= 0);
  const choices: JsonObject[] = [];
  for (const [place, wire] of (list as unknown[]).entries()) {
    const choice = repairChoice(wire);
    if (!choice.ok) return choice;
    choices.push({ ...choice.value, index: trusted ? choice.value["index"] : place });
  }
  const whole = isObject(usage) ? wholeUsage(usage) : undefined;
  const answer: JsonObject = {
    ...rest,
    id: isText(id) ? id : identity.newId(ID_PREFIX),
    object: TEXT_COMPLETION,
    created: typeof created === "number" && created > 0 ? Math.floor(created) : identity.created,
    model: identity.reportedModel ?? (isText(model) ? model : identity.model),
    choices: choices.sort((a, b) => Number(a["index"]) - Number(b["index"])),
    ...(whole === undefined ? {} : { usage: whole }),
  };
  return ok({ body: answer, text: JSON.stringify(answer) });
}

function repairChoice(wire: unknown): Result<JsonObject, Failure> {
  if (!isObject(wire)) return err({ error: invalidAnswer("a choice that is no object") });
  const { text, delta, message, index, logprobs, finish_reason, ...vendor } = wire;
  if (text === undefined && !isObject(message) && !isObject(delta))
    return err({ error: invalidAnswer("a choice without a text") });
  const finish = textFinish(finish_reason);
  if (finish === undefined) return err({ error: UNFINISHED });
  if (finish === "failed") return err(failedFinish(wire));
  return ok({
    index,
    text: textIn(wire),
    logprobs: textLogprobs(logprobs, 0),
    finish_reason: finish,
    ...vendor,
  });
}

const UNFINISHED = gatewayError(
  "upstream_cut",
  "The upstream sent an answer that is not finished (it has no finish_reason).",
);

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

function isClean(body: JsonObject, choices: readonly unknown[], { reportedModel }: Identity): boolean {
  const { id, object, created, model, usage } = body;
  if (!isText(id) || object !== TEXT_COMPLETION || !Number.isInteger(created) || !isText(model)) return false;
  if (reportedModel !== undefined && model !== reportedModel) return false;
  if (usage !== undefined && usage !== null && !(isObject(usage) && isWholeUsage(usage))) return false;
  return choices.every(
    (wire, place) =>
      isObject(wire) &&
      wire["index"] === place &&
      wire["logprobs"] !== undefined &&
      wire["finish_reason"] !== null &&
      isCleanText(wire),
  );
}
