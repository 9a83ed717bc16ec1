import type { JsonObject } from "../json/lossless.ts";
import { parseCallDelta } from "./calls.ts";
import type { ChoicePass } from "./pass.ts";

/** For a client that speaks of functions: the first call of a choice is its `function_call`. There is no word for a second one. */
export function createLegacyFunctionsPass(): ChoicePass {
  let first: { readonly index: number | undefined; readonly id: string } | undefined;
  let args = "";
  let other = false;

  const take = (element: unknown): JsonObject[] => {
    const call = parseCallDelta(element);
    if (call === undefined) return [];
    if (first === undefined) {
      first = { index: call.index, id: call.id };
      args = call.args ?? "";
      return [{ function_call: { name: call.name, arguments: args } }];
    }
    if (call.index !== undefined && first.index !== undefined && call.index !== first.index) other = true;
    else if (call.name !== "" && call.id !== "" && call.id !== first.id) other = true;
    else if (call.id !== "" && call.id === first.id) other = false;
    if (other || call.args === undefined || call.args === "") return [];
    args += call.args;
    return [{ function_call: { arguments: call.args } }];
  };

  return {
    take({ tool_calls, ...rest }): JsonObject[] {
      if (!Array.isArray(tool_calls)) return [rest];
      const calls = tool_calls.flatMap(take);
      return Object.keys(rest).length > 0 ? [rest, ...calls] : calls;
    },
    end(finish) {
      if (first === undefined) return { deltas: [], finish };
      const deltas = args === "" && finish !== "length" ? [{ function_call: { arguments: "{}" } }] : [];
      return { deltas, finish: finish === "tool_calls" ? "function_call" : finish };
    },
  };
}
