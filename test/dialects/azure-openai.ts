// From its documentation: a first chunk that only says what was filtered of the prompt, and filter results in each choice.
import { data, FAILURE, REFUSAL, type Dialect } from "./dialect.ts";
import { openaiStream, openaiWhole } from "./openai.ts";

const SAFE = { hate: { filtered: false, severity: "safe" }, violence: { filtered: false, severity: "safe" } };
const filtered = { content_filter_results: SAFE };
const prompt = { prompt_filter_results: [{ prompt_index: 0, content_filter_results: SAFE }] };
const first = data({ choices: [], created: 0, id: "", model: "", object: "", ...prompt });

export const azureOpenai: Dialect = {
  provider: "azure-openai",
  path: "/openai/deployments/{model}/chat/completions?api-version=2024-10-21",
  keyHeader: "api-key",
  thinks: false,
  stream: (scene) => first + openaiStream(scene, filtered, {}),
  whole: (scene) => openaiWhole(scene, filtered, prompt),
  refusal: {
    status: 400,
    body: JSON.stringify({
      error: {
        message: REFUSAL,
        type: null,
        param: "temperature",
        code: "content_filter",
        status: 400,
        innererror: { code: "ResponsibleAIPolicyViolation", content_filter_result: SAFE },
      },
    }),
  },
  failure: data({ error: { message: FAILURE, type: "server_error", param: null, code: "500" } }),
  failureWords: FAILURE,
};
