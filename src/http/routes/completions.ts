import type { Context } from "hono";
import { complete, type AnswerCall } from "../../gateway/complete.ts";
import { completeInTurn } from "../../gateway/prompt-series.ts";
import { textForm } from "../../protocol/completions/form.ts";
import { parseTextRequest, textCombinationOf, type TextRequest } from "../../protocol/completions/request.ts";
import type { GatewayError } from "../../protocol/errors.ts";
import { membersOf } from "../../protocol/json/members.ts";
import { err, ok, type Result } from "../../protocol/result.ts";
import type { Shaped } from "../../upstream/shaping/draft.ts";
import { manyChoices } from "../../upstream/shaping/many-choices.ts";
import { promptMembers } from "../../upstream/shaping/prompt-members.ts";
import { unsupported } from "../../upstream/shaping/refusal.ts";
import { changedHeader, COMPLETION_RULES, shapeRequest } from "../../upstream/shaping/shape.ts";
import type { StreamingMemory } from "../../upstream/streaming-memory.ts";
import type { Target } from "../../upstream/target.ts";
import { askedFor, portsOf, withHeaders } from "../asked.ts";
import type { AppEnvironment } from "../environment.ts";
import { errorResponse } from "../respond.ts";
import type { TenantOf } from "../tenant.ts";

const RULES = [...COMPLETION_RULES, promptMembers, manyChoices];
/** How many requests one request may turn into. */
const MOST_IN_TURN = 128;

/** `POST /v1/completions`. */
export function textCompletions(
  tenantOf: TenantOf,
  memory: StreamingMemory,
): (c: Context<AppEnvironment>) => Promise<Response> {
  return async (c) => {
    const asked = await askedFor(c, tenantOf, "/completions", parseTextRequest);
    if (!asked.ok) return errorResponse(asked.error);
    const { request, tenant, target, reportedModel } = asked.value;
    const { text, body, stream, shape } = request;
    const shaped = shapeRequest({ text, body, target, tenant, defaults: tenant.defaults }, RULES);
    if (!shaped.ok) return errorResponse(shaped.error);
    const bodies = bodiesInTurn(request, shaped.value, target);
    if (!bodies.ok) return errorResponse(bodies.error);
    const inTurn = bodies.value.length > 1;
    const call: AnswerCall = {
      tenant: tenant.id,
      target,
      endpoint: "/completions",
      body: shaped.value.text,
      model: request.model,
      reportedModel,
      stream,
      options: body["stream_options"] !== undefined && body["stream_options"] !== null,
      hasTools: false,
      combination: textCombinationOf(shaped.value.body, inTurn ? 1 : request.prompts.length),
      form: textForm(shape),
      requestId: c.get("requestId"),
      respond: errorResponse,
    };
    const { copies } = shaped.value;
    const series = { prompts: request.prompts.length, copies, n: request.n / copies, includeUsage: shape.includeUsage };
    const answer = inTurn
      ? completeInTurn(call, bodies.value, series, portsOf(c), memory)
      : complete(call, portsOf(c), memory);
    return withHeaders(await answer, changedHeader(shaped.value.changed));
  };
}

/** What has to be asked one after the other, of a server that takes one prompt at a time or gives one choice at a time. */
function bodiesInTurn(
  { prompts }: TextRequest,
  { text, copies }: Shaped,
  { capabilities }: Target,
): Result<string[], GatewayError> {
  if (copies === 1 && (prompts.length === 1 || capabilities.prompt_lists)) return ok([text]);
  if (prompts.length * copies > MOST_IN_TURN)
    return err(unsupported("prompt", `more than ${MOST_IN_TURN} prompts at a time`));
  return ok(
    prompts.flatMap((prompt) => {
      const members = membersOf(text);
      if (prompt !== undefined) members.set("prompt", JSON.stringify(prompt));
      return Array<string>(copies).fill(members.toText());
    }),
  );
}
