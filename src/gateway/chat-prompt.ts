import { gatewayError, type GatewayError } from "../protocol/errors.ts";
import { membersOf } from "../protocol/json/members.ts";
import { err, ok, type Result } from "../protocol/result.ts";
import type { toPrompt } from "../template/renderer.ts";
import type { Shaped } from "../upstream/shaping/draft.ts";
import { serves, type Target } from "../upstream/target.ts";
import type { Ports } from "./ports.ts";
import { roomFor } from "./room.ts";

/** Loads the part that renders chats: most gateways never need it. */
export type LoadRenderer = () => Promise<{ readonly toPrompt: typeof toPrompt }>;

export interface ShapedPrompt extends Shaped {
  /** Whether the answer begins inside a thought. */
  readonly opened: boolean;
}

/** A chat for an upstream that completes texts: rendered with the target's template, and with a bound that is always said. */
export async function promptOfChat(
  shaped: Shaped,
  target: Target,
  model: string,
  load: LoadRenderer,
  ports: Ports,
): Promise<Result<ShapedPrompt, GatewayError>> {
  if (!serves(target, "/completions")) return err(NO_COMPLETIONS);
  const renderer = await load();
  const prompted = renderer.toPrompt(shaped.text, target.template);
  if (!prompted.ok) {
    if (prompted.error.error.code === "template_failed")
      ports.log("template_failed", { upstream: target.upstream, status: prompted.error.status });
    return prompted;
  }
  const { text, prompt, bounded, opened, changed } = prompted.value;
  const all = [...shaped.changed, ...changed];
  if (bounded) return ok({ ...shaped, text, changed: all, opened });
  const members = membersOf(text);
  members.set("max_tokens", String(await roomFor(prompt, target, target.model ?? model, ports)));
  return ok({ ...shaped, text: members.toText(), changed: [...all, "+max_tokens"], opened });
}

const NO_COMPLETIONS = gatewayError(
  "endpoint_not_supported",
  "The upstream of this model does not serve /completions, which its template is for.",
);
