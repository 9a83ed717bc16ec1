import { Hono } from "hono";
import { preflight } from "./http/middleware/cors.ts";
import { front, type Handler } from "./http/middleware/front.ts";
import { createModelLists } from "./gateway/model-lists.ts";
import type { AppEnvironment } from "./http/environment.ts";
import { onError } from "./http/on-error.ts";
import { AZURE, PASSED } from "./http/passed-endpoints.ts";
import { errorResponse } from "./http/respond.ts";
import { chatCompletions } from "./http/routes/chat.ts";
import { textCompletions } from "./http/routes/completions.ts";
import { embeddings } from "./http/routes/embeddings.ts";
import { listModels, showModel } from "./http/routes/models.ts";
import { passed } from "./http/routes/pass-through.ts";
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

  const served = front((bindings, background) => source.current(bindings, Date.now(), background));
  // One handler a path, whatever the method: Hono calls a single one without its onion.
  const only = (method: "GET" | "POST", path: string, handler: Handler): void => {
    const fits = (asked: string): boolean => asked === method || (method === "GET" && asked === "HEAD");
    const refuse = (): Response => wrongMethod(method === "GET" ? "GET, HEAD" : "POST");
    app.all(
      path,
      served((c) => (fits(c.req.method) ? handler(c) : refuse())),
    );
  };

  app.options(
    "*",
    served((c) => preflight(c.req.raw)),
  );
  only("GET", "/health", () => Response.json({ status: "ok" }));
  const chat = chatCompletions(tenantOf, memory, {
    renderer: () => import("./template/renderer.js"),
    reader: () => import("./protocol/text/pass.js"),
  });
  const texts = textCompletions(tenantOf, memory);
  const vectors = embeddings(tenantOf, memory);
  for (const base of ["/v1", "", AZURE]) {
    only("POST", `${base}/chat/completions`, chat);
    only("POST", `${base}/completions`, texts);
    only("POST", `${base}/embeddings`, vectors);
    for (const endpoint of ["/audio/transcriptions", "/audio/translations"] as const)
      only("POST", base + endpoint, transcriptions(endpoint, tenantOf));
  }
  for (const one of PASSED) for (const path of one.paths) only("POST", path, passed(one, tenantOf));
  for (const base of ["/v1", ""]) {
    only("GET", `${base}/models`, listModels(tenantOf, lists));
    only("GET", `${base}/models/:id{.+}`, showModel(tenantOf, lists));
    for (const path of [`${base}/responses`, `${base}/responses/*`]) app.all(path, served(responsesNotSupported));
  }
  app.notFound(
    served((c) =>
      errorResponse(gatewayError("not_found", `Unknown request URL: ${c.req.method} ${c.req.path.slice(0, 200)}.`)),
    ),
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
