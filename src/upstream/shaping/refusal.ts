import { gatewayError, type GatewayError } from "../../protocol/errors.ts";
import type { Draft } from "./draft.ts";

export const unsupported = (param: string, what: string): GatewayError =>
  gatewayError("unsupported_parameter", `The upstream of this model does not support ${what}.`, param);

/** What would change the answer and cannot be honoured is refused, or left out where the operator has chosen so. */
export function refuseOrDrop(
  draft: Draft,
  param: string,
  what: string,
  members: readonly string[] = [param],
): GatewayError | undefined {
  if (draft.target.unsupported === "refuse") return unsupported(param, what);
  for (const member of members) if (draft.has(member)) draft.drop(member);
  return undefined;
}

export const wrongValue = (param: string, message: string): GatewayError =>
  gatewayError("invalid_value", `Invalid value for '${param}': ${message}.`, param);
