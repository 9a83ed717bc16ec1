import type { JsonObject } from "../../../src/protocol/json/lossless.ts";
import type { Capabilities, Provider } from "../../../src/upstream/provider.ts";
import { openaiCompatible } from "../../../src/upstream/providers/openai-compatible.ts";
import type { ShapingTenant } from "../../../src/upstream/shaping/draft.ts";
import { CHAT_RULES, shapeRequest } from "../../../src/upstream/shaping/shape.ts";
import type { Target } from "../../../src/upstream/target.ts";
import { targetOf } from "../target-of.ts";

export interface Setting {
  readonly provider?: Provider;
  readonly can?: Partial<Capabilities>;
  readonly target?: Partial<Target>;
  readonly tenant?: Partial<ShapingTenant>;
  readonly defaults?: JsonObject;
  readonly rules?: typeof CHAT_RULES;
}

/** The text that goes to the upstream, and what was changed; or the error. */
export function shapedText(
  text: string,
  setting: Setting = {},
): { readonly text: string; readonly changed: readonly string[] } | Refused {
  const { provider = openaiCompatible, can = {}, target = {}, tenant = {}, defaults = {}, rules } = setting;
  const result = shapeRequest(
    {
      text,
      body: JSON.parse(text) as JsonObject,
      target: targetOf({ provider, capabilities: { ...provider.capabilities, ...can }, ...target }),
      tenant: { privileged: false, cacheSalt: "salt", ...tenant },
      defaults,
    },
    rules,
  );
  if (!result.ok) return { code: result.error.error.code, param: result.error.error.param };
  const { changed, copies, legacyFunctions } = result.value;
  return {
    text: result.value.text,
    changed,
    ...(copies > 1 ? { copies } : {}),
    ...(legacyFunctions ? { legacyFunctions } : {}),
  };
}

export interface Refused {
  readonly code: string | null;
  readonly param: string | null;
}

/** The members that go to the upstream beside the model and the messages, and the changes in one line. */
export function shaped(members: JsonObject, setting: Setting = {}): unknown {
  const result = shapedText(
    JSON.stringify({ model: "m", messages: [{ role: "user", content: "x" }], ...members }),
    setting,
  );
  if (!("text" in result)) return [result.code, result.param];
  const { text, changed, ...more } = result;
  const { model: _model, messages, ...rest } = JSON.parse(text) as JsonObject;
  return {
    ...(members["messages"] === undefined ? rest : { ...rest, messages }),
    changed: changed.join(", "),
    ...more,
  };
}

export const unsupported = (param: string): unknown => ["unsupported_parameter", param];
export const invalid = (param: string): unknown => ["invalid_value", param];
