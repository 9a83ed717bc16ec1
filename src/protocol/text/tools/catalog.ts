import type { ToolFamily } from "../family.ts";
import { ALIASES, spellingsOf } from "../family-names.ts";
import { deepseekV3, deepseekV31, deepseekV32 } from "./deepseek.ts";
import { functionGemma, gemma4 } from "./gemma.ts";
import { glm45, hyV3 } from "./glm45.ts";
import { granite, granite20b } from "./granite.ts";
import { harmony } from "./harmony.ts";
import { hermes } from "./hermes.ts";
import { minicpm5, minimaxM2 } from "./invoke.ts";
import { json } from "./json.ts";
import { kimiK2 } from "./kimi-k2.ts";
import { llama3 } from "./llama3.ts";
import { mistral } from "./mistral.ts";
import { lfm2, pythonic } from "./pythonic.ts";
import { qwen3Coder, seedOss } from "./qwen3-coder.ts";
import { step3 } from "./step3.ts";
import { apertus, cohere, gigachat3, internlm, longcat, minimaxM1, phi4Mini, xlam } from "./tagged-json.ts";

/** Where several families share a beginning, the earlier one is tried first. */
const FAMILIES: readonly ToolFamily[] = [
  hermes,
  qwen3Coder,
  glm45,
  llama3,
  pythonic,
  mistral,
  deepseekV3,
  deepseekV31,
  deepseekV32,
  kimiK2,
  minimaxM2,
  minimaxM1,
  hyV3,
  granite,
  granite20b,
  phi4Mini,
  lfm2,
  seedOss,
  internlm,
  step3,
  longcat,
  cohere,
  gemma4,
  functionGemma,
  apertus,
  gigachat3,
  minicpm5,
  xlam,
  harmony,
  json,
];

const byName = new Map(FAMILIES.map((family) => [family.name, family]));
for (const [alias, name] of Object.entries(ALIASES)) byName.set(alias, byName.get(name) as ToolFamily);

/** Every name that `toolFamilyOf` knows. */
export const TOOL_FAMILY_NAMES: readonly string[] = [...byName.keys()];

/** A family by its name or an alias, in vLLM's spelling too (`qwen3_coder`). */
export function toolFamilyOf(name: string): ToolFamily | undefined {
  return spellingsOf(name)
    .map((spelled) => byName.get(spelled))
    .find((family) => family !== undefined);
}

/** For a model whose name says nothing. What begins like ordinary text (a fence with JSON) is left alone. */
export const ANY_TOOLS: readonly ToolFamily[] = FAMILIES.filter((family) => family !== xlam);
