import { gatewayError } from "../../protocol/errors.ts";
import type { Rule } from "./draft.ts";

/** A place in the queue, another request's cache, another tenant's adapter: not for everybody who can send a request. */
export const privilegedMembers: Rule = {
  name: "privileged-members",
  apply(draft) {
    if (draft.tenant.privileged) return undefined;
    const name = draft.target.provider.privileged.find((member) => draft.has(member));
    return name === undefined
      ? undefined
      : gatewayError("privileged_parameter", `The parameter '${name}' is not open to this tenant.`, name);
  },
};
