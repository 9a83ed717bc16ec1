import { describe, expect, it } from "vitest";
import { familyOfModel } from "../../../src/protocol/text/models.ts";
import { REASONING_FAMILIES } from "../../../src/protocol/text/reasoning-families.ts";
import { toolFamilyOf } from "../../../src/protocol/text/tools/catalog.ts";
import { answerOf } from "./passes.ts";

const MODELS: readonly (readonly [string, string | undefined, string | undefined])[] = [
  ["meta-llama/Llama-3.1-8B-Instruct", "llama3", undefined],
  ["meta-llama/Llama-4-Scout-17B-16E-Instruct", "pythonic", undefined],
  ["Qwen/Qwen2.5-7B-Instruct", "hermes", undefined],
  ["Qwen/Qwen3-32B", "hermes", "think"],
  ["Qwen/Qwen3-235B-A22B-Instruct-2507", "hermes", undefined],
  ["Qwen/Qwen3-30B-A3B-Thinking-2507", "hermes", "think-open"],
  ["Qwen/Qwen3-Coder-480B-A35B-Instruct", "qwen3-coder", undefined],
  ["Qwen/Qwen3.5-35B-A3B", "qwen3-coder", "think-open"],
  ["Qwen/QwQ-32B", "hermes", "think-open"],
  ["NousResearch/Hermes-4-70B", "hermes", "think"],
  ["mistralai/Magistral-Small-2509", "mistral", "mistral"],
  ["deepseek-ai/DeepSeek-V3", "deepseek-v3", undefined],
  ["deepseek-ai/DeepSeek-R1-0528", "deepseek-v3", "think-open"],
  ["deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "hermes", "think-open"],
  ["deepseek-ai/DeepSeek-V3.1-Terminus", "deepseek-v31", "think"],
  ["deepseek-ai/DeepSeek-V3.2", "deepseek-v32", "think"],
  ["moonshotai/Kimi-K2-Thinking", "kimi-k2", "think"],
  ["zai-org/GLM-4.6", "glm45", "think"],
  ["MiniMaxAI/MiniMax-M1-80k", "minimax-m1", "think"],
  ["MiniMaxAI/MiniMax-M2", "minimax-m2", "think-open"],
  ["allenai/Olmo-3-7B-Think", "pythonic", "think-open"],
  ["ibm-granite/granite-3.3-8b-instruct", "granite", "granite"],
  ["ibm-granite/granite-4.0-h-small", "hermes", undefined],
  ["ibm-granite/granite-20b-functioncalling", "granite-20b-fc", undefined],
  ["microsoft/Phi-4-mini-instruct", "phi4-mini", undefined],
  ["ByteDance-Seed/Seed-OSS-36B-Instruct", "seed-oss", "seed"],
  ["internlm/internlm3-8b-instruct", "internlm", undefined],
  ["tencent/Hunyuan-A13B-Instruct", "minimax-m1", "hunyuan"],
  ["stepfun-ai/step3", "step3", "think-open"],
  ["openai/gpt-oss-20b", "harmony", "harmony"],
  ["google/gemma-4-27b-it", "gemma4", "gemma4"],
  ["google/functiongemma-270m-it", "functiongemma", undefined],
  ["CohereLabs/command-a-reasoning-08-2025", "cohere", "cohere"],
  ["LiquidAI/LFM2-1.2B", "lfm2", undefined],
  ["Salesforce/Llama-xLAM-2-8b-fc-r", "xlam", undefined],
];

describe("a model's name", () => {
  it.each(MODELS)("%s writes calls as %s and thoughts as %s", (model, tools, reasoning) => {
    expect(familyOfModel(model)).toEqual({ tools, reasoning });
    expect(tools === undefined || toolFamilyOf(tools) !== undefined).toBe(true);
    expect(reasoning === undefined || REASONING_FAMILIES.has(reasoning)).toBe(true);
  });

  it("may say nothing", () => {
    expect(familyOfModel("my-model")).toBeUndefined();
    expect(familyOfModel("philosophy-3")).toBeUndefined();
  });

  it("decides what auto looks for", () => {
    const tools = [{ name: "f" }];
    const text = '<tool_call>{"name": "f", "arguments": {}}</tool_call>';
    expect(answerOf([text], { toolFamily: "auto", tools, model: "Qwen/Qwen3-32B" }).calls).toHaveLength(1);
    expect(answerOf([text], { toolFamily: "auto", tools, model: "deepseek-ai/DeepSeek-V3" }).calls).toHaveLength(0);
    expect(answerOf(["<think>x</think>y"], { reasoningFamily: "auto", model: "Llama-3.1-8B" }).reasoning).toBe("");
  });
});
