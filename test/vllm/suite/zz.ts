import { expect, test } from "vitest";
import { ask, refusal, ways } from "../ask.ts";
import { lastExchange, textOf } from "../client.ts";
import { readStream, readCompletion } from "../../conformance/strict.ts";
import { say, callText, weather } from "../say.ts";
test.each(ways)("$model $mode", async (way) => {
  await ask(way, {...say(callText("get_weather", "{}")), tools:[weather]});
  const e = lastExchange();
  console.log(way, e.complete, e.response.headers.get("content-type"), e.response.headers.get("x-request-id"), textOf(e).slice(0,1500));
  expect(e.complete).toBe(true);
  const b = Buffer.from(textOf(e).replaceAll('"index":0,"function":{"arg','"index":1,"function":{"arg').replaceAll('"type":"function"','"type":"f"'));
  console.log((way.mode === "streamed" ? readStream(b,{includeUsage:true}) : readCompletion(b)).problems.slice(0,2));
});
test("errors", async () => {
  for (const [m,b] of [["tiny",{temperature:"hot"}],["tiny",{logprobs:true,top_logprobs:25}],["misnamed",{}],["as-asked-nope",{}],["locked",{}],["credential-absent",{}],["tiny",{structured_outputs:{regex:"("}}],["tiny",{messages:[{role:"user",content:"x".repeat(2100)}]}],["tiny",{...say("one two three"),stop_token_ids:[220]}],["plain",{tools:[weather]}]] as const) {
    for (const mode of ["whole","streamed"] as const) {
    try { await refusal(m,mode,b);} catch {}
    console.log(m, mode, lastExchange().response.status, textOf(lastExchange()).slice(-420)); }
  }
});
