import type { Rule } from "./draft.ts";
import { messagesOf, rewriteMessages } from "./messages.ts";

/** `developer` is the newer word for `system`; templates know one of them. */
export const instructionRole: Rule = {
  name: "instruction-role",
  apply(draft) {
    const role = draft.target.capabilities.instruction_role;
    if (role === "any") return undefined;
    const other = role === "system" ? "developer" : "system";
    if (!messagesOf(draft).some((message) => message["role"] === other)) return undefined;
    rewriteMessages(draft, `${other}->${role}`, (message) =>
      message["role"] === other ? { ...message, role } : message,
    );
    return undefined;
  },
};
