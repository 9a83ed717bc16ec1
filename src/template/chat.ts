import { gatewayError, type GatewayError } from "../protocol/errors.ts";
import { deeperThan, isObject, type JsonObject } from "../protocol/json/lossless.ts";
import { wrong } from "../protocol/request-body.ts";
import { err, ok, type Result } from "../protocol/result.ts";

const MAX_DEPTH = 128;

/** The messages of a chat as templates want them: contents are texts, arguments are objects, and nothing is there that says nothing. */
export function chatOf(messages: readonly JsonObject[]): Result<JsonObject[], GatewayError> {
  const chat: JsonObject[] = [];
  for (const [i, message] of messages.entries()) {
    const { content, tool_calls, ...rest } = message;
    const text = textOf(content, `messages[${i}].content`);
    if (!text.ok) return text;
    const calls = callsOf(tool_calls, `messages[${i}].tool_calls`);
    if (!calls.ok) return calls;
    const said = Object.entries(rest).filter(([, value]) => value !== null);
    chat.push({
      ...Object.fromEntries(said),
      content: text.value,
      ...(calls.value.length > 0 ? { tool_calls: calls.value } : {}),
    });
  }
  return ok(chat);
}

function textOf(content: unknown, param: string): Result<string, GatewayError> {
  if (content === null || content === undefined) return ok("");
  if (typeof content === "string") return ok(content);
  if (!Array.isArray(content)) return err(wrong(param, "a string or an array of parts"));
  const texts: string[] = [];
  for (const [j, part] of content.entries()) {
    const text = textOfPart(part);
    if (text === undefined) {
      const what = "The chat of this model is sent as text, which has no place for content other than text.";
      return err(gatewayError("unsupported_parameter", what, `${param}[${j}]`));
    }
    texts.push(text);
  }
  return ok(texts.join("\n"));
}

function textOfPart(part: unknown): string | undefined {
  if (typeof part === "string") return part;
  if (!isObject(part)) return undefined;
  const { type } = part;
  const text = type === "text" || type === "refusal" ? part[type] : undefined;
  return typeof text === "string" ? text : undefined;
}

function callsOf(value: unknown, param: string): Result<JsonObject[], GatewayError> {
  if (!Array.isArray(value)) return ok([]);
  const calls: JsonObject[] = [];
  for (const [j, call] of value.entries()) {
    const body = isObject(call) ? call["function"] : undefined;
    if (!isObject(call) || !isObject(body)) return err(wrong(`${param}[${j}]`, "a call of a function"));
    const args = argumentsOf(body["arguments"]);
    if (args === undefined || deeperThan(args, MAX_DEPTH)) {
      const at = `${param}[${j}]`;
      return err(gatewayError("invalid_value", `Invalid value for '${at}': its arguments are not JSON.`, at));
    }
    calls.push({ ...call, function: { ...body, arguments: args } });
  }
  return ok(calls);
}

function argumentsOf(value: unknown): unknown {
  if (typeof value !== "string") return value ?? {};
  if (value.trim() === "") return {};
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return undefined;
  }
}

/** The tools that the model may call: none, or only one, if the client has chosen so. */
export function toolsOf({ tools, tool_choice }: JsonObject): readonly unknown[] | undefined {
  if (!Array.isArray(tools) || tools.length === 0 || tool_choice === "none") return undefined;
  if (!isObject(tool_choice)) return tools;
  const { allowed_tools } = tool_choice;
  const allowed = isObject(allowed_tools) ? allowed_tools["tools"] : [tool_choice];
  if (!Array.isArray(allowed)) return tools;
  const names = new Set(allowed.map(nameOf));
  const chosen = tools.filter((tool) => names.has(nameOf(tool)));
  return chosen.length > 0 ? chosen : tools;
}

function nameOf(tool: unknown): unknown {
  const body = isObject(tool) ? tool["function"] : undefined;
  return isObject(body) ? body["name"] : undefined;
}
