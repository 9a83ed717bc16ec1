import { Hono, type Context } from "hono";
import { preflight } from "./http/middleware/cors.ts";
import { front } from "./http/middleware/front.ts";
import { createModelLists } from "./gateway/model-lists.ts";
import type { AppEnvironment } from "./http/environment.ts";
import { onError } from "./http/on-error.ts";
import { errorResponse } from "./http/respond.ts";
import { chatCompletions } from "./http/routes/chat.ts";
import { textCompletions } from "./http/routes/completions.ts";
import { embeddings } from "./http/routes/embeddings.ts";
import { listModels, showModel } from "./http/routes/models.ts";
import { PASSED, passed } from "./http/routes/pass-through.ts";
import { transcriptions } from "./http/routes/transcriptions.ts";
import { log } from "./http/log.ts";
import { createTenantOf } from "./http/tenant.ts";
import { gatewayError } from "./protocol/errors.ts";
import { createConfigSource } from "./state/config-source.ts";
import { createStreamingMemory } from "./upstream/streaming-memory.ts";

/** Puts the house together: bindings to ports, middleware and routes in reading order. Made once per isolate. */
export function createApp(): Hono<AppEnvironment> {
  const source = createConfigSource(log);
  const memory = createStreamingMemory();
  const tenantOf = createTenantOf();
  const lists = createModelLists();
  const app = new Hono<AppEnvironment>();

  app.use(front((bindings, background) => source.current(bindings, Date.now(), background)));
  app.options("*", (c) => preflight(c.req.raw));
  app.get("/health", () => Response.json({ status: "ok" }));
  const chat = chatCompletions(tenantOf, memory);
  const texts = textCompletions(tenantOf, memory);
  const vectors = embeddings(tenantOf, memory);
  const post = (path: string, serve: (c: Context<AppEnvironment>) => Promise<Response>): void => {
    app.post(path, serve);
    app.all(path, () => wrongMethod("POST"));
  };
  // The third is how Azure's clients ask.
  for (const base of ["/v1", "", "/openai/deployments/:deployment"]) {
    post(`${base}/chat/completions`, chat);
    post(`${base}/completions`, texts);
    post(`${base}/embeddings`, vectors);
  }
  for (const one of PASSED) for (const path of one.paths) post(path, passed(one, tenantOf));
  for (const base of ["/v1", ""]) {
    for (const endpoint of ["/audio/transcriptions", "/audio/translations"] as const)
      post(base + endpoint, transcriptions(endpoint, tenantOf));
    app.get(`${base}/models`, listModels(tenantOf, lists));
    app.get(`${base}/models/:id{.+}`, showModel(tenantOf, lists));
    app.all(`${base}/models/:id{.+}`, () => wrongMethod("GET, HEAD"));
    app.all(`${base}/models`, () => wrongMethod("GET, HEAD"));
    for (const path of [`${base}/responses`, `${base}/responses/*`]) app.all(path, responsesNotSupported);
  }
  app.all("/health", () => wrongMethod("GET, HEAD"));
  app.notFound((c) =>
    errorResponse(gatewayError("not_found", `Unknown request URL: ${c.req.method} ${c.req.path.slice(0, 200)}.`)),
  );
  app.onError(onError);
  return app;
}

function wrongMethod(allow: string): Response {
  return errorResponse({
    ...gatewayError("method_not_allowed", `Not allowed here; use ${allow}.`),
    headers: { allow },
  });
}

function responsesNotSupported(): Response {
  const cure =
    "This gateway does not serve the Responses API. Use chat completions (POST /v1/chat/completions): in the AI SDK `openai.chat(model)`, in the Agents SDK `setOpenAIAPI('chat_completions')`.";
  return errorResponse(gatewayError("endpoint_not_supported", cure));
}
