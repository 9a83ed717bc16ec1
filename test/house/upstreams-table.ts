import { PROVIDERS } from "../../src/upstream/catalog.ts";
import type { Capabilities, Provider, Range } from "../../src/upstream/provider.ts";

/** What is refused or asked for in another way, because the upstream cannot do it. */
const WITHOUT: readonly (readonly [name: keyof Capabilities, words: string])[] = [
  ["streaming", "streams are made of whole answers"],
  ["streaming_with_tools", "streams with tools are made of whole answers"],
  ["stream_options", "`stream_options` left out"],
  ["tools", "`tools` refused"],
  ["tool_choice_none", "`tool_choice: none` by leaving the tools out"],
  ["tool_choice_required", "a forced `tool_choice` refused"],
  ["parallel_tool_calls", "`parallel_tool_calls` left out"],
  ["n", "`n` up to 8 by parallel requests"],
  ["logprobs", "`logprobs` refused"],
  ["json_schema", "`json_schema` refused"],
  ["json_object", "`json_object` refused"],
  ["content_parts", "text parts joined, images refused"],
  ["image_urls", "images fetched and put in"],
  ["empty_arguments", "empty arguments of earlier calls become `{}`"],
  ["invalid_arguments", "earlier calls with broken arguments refused"],
];

const ROLES = { any: undefined, system: "`developer` as `system`", developer: "`system` as `developer`" };

const CONSTRAINTS = {
  any: undefined,
  structured_outputs: "`guided_*` as `structured_outputs`",
  guided: "`structured_outputs` as `guided_*`",
  regex_ebnf: "`guided_*` and `structured_outputs` as `response_format`, `regex` and `ebnf`",
  none: "a schema of `guided_json` or `structured_outputs` as `response_format`, their other kinds refused",
};

function changesOf({ capabilities: can, privileged }: Provider): string {
  const { max_tokens, seed, repetition_penalty, top_k_off, reasoning_history } = can;
  const list: (string | undefined)[] = [
    max_tokens === "any" ? undefined : `the bound of an answer as \`${max_tokens}\``,
    ROLES[can.instruction_role],
    ...WITHOUT.map(([name, words]) => (can[name] === false ? words : undefined)),
    CONSTRAINTS[can.constraints],
    top_k_off === "any" ? undefined : `\`top_k\` off as ${top_k_off}`,
    repetition_penalty === "any" ? undefined : `\`${repetition_penalty}\` under both of its names`,
    seed === "any" ? undefined : `\`seed\` as \`${seed}\``,
    can.tool_call_ids === "any" ? undefined : "ids of earlier calls made to fit",
    reasoning_history === "any"
      ? undefined
      : reasoning_history === "none"
        ? "earlier reasoning left out"
        : `earlier reasoning as \`${reasoning_history}\` only`,
    can.cache_salt ? "a `cache_salt` for each tenant" : undefined,
    rangesOf(can),
    privileged.length === 0
      ? undefined
      : `only for privileged tenants: ${privileged.map((name) => `\`${name}\``).join(", ")}`,
  ];
  return list.filter((words) => words !== undefined).join("; ");
}

function rangesOf({ ranges }: Capabilities): string | undefined {
  const list = Object.entries(ranges).map(([name, range]) => `\`${name}\` ${inWords(range)}`);
  return list.length === 0 ? undefined : `refused out of range: ${list.join(", ")}`;
}

const inWords = ({ min, above, max }: Range): string => {
  const from = min === undefined ? (above === undefined ? "" : `>${above}`) : `${min}`;
  if (max === undefined) return min === undefined ? from : `≥${min}`;
  return from === "" ? `≤${max}` : `${from}..${max}`;
};

function rowOf(provider: Provider): string {
  const { id, name, tested, baseUrl, endpoints, quirks } = provider;
  const beyond = endpoints.filter((endpoint) => endpoint !== "/chat/completions" && endpoint !== "/models");
  return [
    `**${name}** \`${id}\`${baseUrl === undefined ? ", needs `base_url`" : ""}`,
    tested ? "yes" : "no",
    beyond.length === 0 ? "chat" : `chat, ${beyond.map((endpoint) => endpoint.slice(1)).join(", ")}`,
    changesOf(provider),
    quirks.join("; "),
  ].join(" | ");
}

/** "Which upstreams work, and what is changed for each": the operator's page, out of the data that is served by. */
export function upstreamsTable(): string {
  return [
    "| Provider | Tested | Endpoints | What is changed in requests | What is repaired in answers |",
    "| --- | --- | --- | --- | --- |",
    ...Object.values(PROVIDERS).map((provider) => `| ${rowOf(provider)} |`),
  ].join("\n");
}
