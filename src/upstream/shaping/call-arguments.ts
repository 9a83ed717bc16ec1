import { gatewayError } from "../../protocol/errors.ts";
import { isObject, type JsonObject } from "../../protocol/json/lossless.ts";
import type { Rule } from "./draft.ts";
import { callsOf, messagesOf, rewriteMessages } from "./messages.ts";

/** Servers that read the arguments of earlier calls fail on what a model has left empty or broken. */
export const callArguments: Rule = {
  name: "call-arguments",
  apply(draft) {
    const { empty_arguments, invalid_arguments } = draft.target.capabilities;
    if (empty_arguments && invalid_arguments) return undefined;
    let empty = false;
    for (const [i, message] of messagesOf(draft).entries()) {
      for (const [j, call] of callsOf(message).entries()) {
        if (isEmpty(call)) empty = true;
        else if (!invalid_arguments && isInvalid(call)) {
          const param = `messages[${i}].tool_calls[${j}]`;
          return gatewayError("invalid_value", `Invalid value for '${param}': its arguments are not JSON.`, param);
        }
      }
    }
    if (!empty || empty_arguments) return undefined;
    rewriteMessages(draft, "~tool_calls.arguments", (message) =>
      callsOf(message).some(isEmpty) ? { ...message, tool_calls: callsOf(message).map(filled) } : message,
    );
    return undefined;
  },
};

function argumentsOf(call: unknown): unknown {
  const body = isObject(call) ? call["function"] : undefined;
  return isObject(body) ? (body["arguments"] ?? "") : undefined;
}

function isEmpty(call: unknown): boolean {
  const args = argumentsOf(call);
  return typeof args === "string" && args.trim() === "";
}

function isInvalid(call: unknown): boolean {
  const args = argumentsOf(call);
  if (typeof args !== "string") return false;
  try {
    JSON.parse(args);
    return false;
  } catch {
    return true;
  }
}

function filled(call: unknown): unknown {
  if (!isEmpty(call)) return call;
  const { function: body, ...rest } = call as JsonObject;
  return { ...rest, function: { ...(body as JsonObject), arguments: "{}" } };
}
