import { describe, expect, it } from "vitest";
import { toPrompt, type Prompted } from "../../src/template/renderer.ts";
import { CALLS, TOOL } from "./chats.ts";

const user = [{ role: "user", content: "hello" }];

function rendered(template: string, body: object): Prompted {
  const result = toPrompt(JSON.stringify({ model: "m", ...body }), template);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}
const promptOf = (template: string, body: object): string => rendered(template, body).prompt;
const sent = (template: string, body: object): Record<string, unknown> =>
  JSON.parse(rendered(template, body).text) as Record<string, unknown>;
function refused(
  template: string,
  body: object,
): { status: number; code: string | null; param: string | null; message: string } {
  const result = toPrompt(JSON.stringify({ model: "m", ...body }), template);
  if (result.ok) throw new Error(result.value.prompt);
  const { code, param, message } = result.error.error;
  return { status: result.error.status, code, param, message };
}

const SYSTEM = "<|start_header_id|>system<|end_header_id|>\n\n";
const DATES = "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n";
const turn = (role: string, text: string): string => `<|start_header_id|>${role}<|end_header_id|>\n\n${text}<|eot_id|>`;
const ANSWER = "<|start_header_id|>assistant<|end_header_id|>\n\n";

describe("llama3", () => {
  it("says who speaks, with one start token", () => {
    expect(promptOf("llama3", { messages: user })).toBe(
      `<|begin_of_text|>${SYSTEM}${DATES}<|eot_id|>${turn("user", "hello")}${ANSWER}`,
    );
  });

  it("tells instructions, calls and their results", () => {
    expect(promptOf("llama3", { messages: CALLS })).toBe(
      `<|begin_of_text|>${SYSTEM}${DATES}Be brief.<|eot_id|>${turn("user", "Weather\nin Oslo?")}` +
        turn("assistant", '{"name": "weather", "parameters": {"city": "Oslo", "days": 2}}') +
        turn("ipython", String.raw`"say \"rain\""`) +
        turn("user", "Thanks") +
        ANSWER,
    );
  });

  const schema = `{
    "type": "function",
    "function": {
        "name": "weather",
        "description": "<w>",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {
                    "type": "string"
                }
            }
        }
    }
}`;
  const form =
    'Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}.Do not use variables.\n\n';

  it("puts tools into the first message of the user", () => {
    expect(promptOf("llama3", { messages: user, tools: [TOOL] })).toBe(
      `<|begin_of_text|>${SYSTEM}Environment: ipython\n${DATES}<|eot_id|>` +
        turn(
          "user",
          "Given the following functions, please respond with a JSON for a function call with its proper arguments " +
            `that best answers the given prompt.\n\n${form}${schema}\n\nhello`,
        ) +
        ANSWER,
    );
  });

  it("or into the instructions, and takes another date", () => {
    const chat_template_kwargs = { tools_in_user_message: false, date_string: "1 Jan 2030" };
    expect(promptOf("llama3", { messages: user, tools: [TOOL], chat_template_kwargs })).toBe(
      `<|begin_of_text|>${SYSTEM}Environment: ipython\nCutting Knowledge Date: December 2023\nToday Date: 1 Jan 2030\n\n` +
        "You have access to the following functions. To call a function, please respond with JSON for a function call." +
        `${form}${schema}\n\n<|eot_id|>${turn("user", "hello")}${ANSWER}`,
    );
  });

  it("refuses tools without anybody to tell them to", () => {
    expect(refused("llama3", { messages: [{ role: "system", content: "x" }], tools: [TOOL] })).toMatchObject({
      status: 400,
      code: "invalid_value",
      param: "messages",
    });
  });
});

const im = (role: string, text: string): string => `<|im_start|>${role}\n${text}<|im_end|>\n`;

describe("chatml", () => {
  it("says who speaks, without a start token", () => {
    expect(promptOf("chatml", { messages: [{ role: "system", content: "S" }, ...user] })).toBe(
      `${im("system", "S")}${im("user", "hello")}<|im_start|>assistant\n`,
    );
  });

  const offered =
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with function " +
    "signatures within <tools></tools> XML tags:\n<tools>\n" +
    '{"type": "function", "function": {"name": "weather", "description": "<w>", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}' +
    "\n</tools>\n\nFor each function call, return a json object with function name and arguments within " +
    '<tool_call></tool_call> XML tags:\n<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>';

  it("tells tools, calls and their results", () => {
    const results = [...CALLS.slice(0, 4), { role: "tool", tool_call_id: "call_2", content: "sun" }];
    expect(promptOf("chatml", { messages: results, tools: [TOOL] })).toBe(
      im("system", ` Be brief. \n\n${offered}`) +
        im("user", "Weather\nin Oslo?") +
        im("assistant", '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo", "days": 2}}\n</tool_call>') +
        im("user", '<tool_response>\nsay "rain"\n</tool_response>\n<tool_response>\nsun\n</tool_response>') +
        "<|im_start|>assistant\n",
    );
  });

  it("tells tools without instructions", () => {
    expect(promptOf("chatml", { messages: user, tools: [TOOL] })).toBe(
      `${im("system", offered)}${im("user", "hello")}<|im_start|>assistant\n`,
    );
  });

  it("has the text before a call", () => {
    const call = { type: "function", function: { name: "weather", arguments: "" } };
    expect(promptOf("chatml", { messages: [{ role: "assistant", content: "Wait.", tool_calls: [call] }] })).toBe(
      `${im("assistant", 'Wait.\n<tool_call>\n{"name": "weather", "arguments": {}}\n</tool_call>')}<|im_start|>assistant\n`,
    );
  });
});

describe("the tools that are told", () => {
  const other = { type: "function", function: { name: "other" } };
  const names = "{% for t in tools or [] %}{{ t.function.name }} {% endfor %}";
  it.each([
    [undefined, "weather other "],
    ["auto", "weather other "],
    ["required", "weather other "],
    ["none", ""],
    [{ type: "function", function: { name: "other" } }, "other "],
    [{ type: "allowed_tools", allowed_tools: { mode: "auto", tools: [TOOL] } }, "weather "],
  ])("%j", (tool_choice, told) => {
    expect(promptOf(names, { messages: user, tools: [TOOL, other], tool_choice })).toBe(told);
  });
});

describe("a template of the operator's", () => {
  it("has the tokens of its family", () => {
    expect(promptOf("{{ bos_token }}[INST] {{ messages[0].content }} [/INST]{{ eos_token }}", { messages: user })).toBe(
      "<s>[INST] hello [/INST]</s>",
    );
    expect(sent("{{ bos_token }}[INST]", { messages: user })["stop"]).toEqual(["</s>"]);
    expect(sent("{{ messages[0].content }}", { messages: user })).not.toHaveProperty("stop");
  });

  it("gets chat_template_kwargs, documents and the effort, and its own names cannot be taken", () => {
    const template =
      "{{ a }}|{{ bos_token }}|{{ messages | length }}|{{ documents[0].t }}|{{ reasoning_effort }}|{{ enable_thinking }}";
    const chat_template_kwargs = { a: 7, bos_token: "X", messages: [], raise_exception: 1, namespace: 2, range: 3 };
    expect(
      promptOf(template, { messages: user, chat_template_kwargs, documents: [{ t: "d" }], reasoning_effort: "none" }),
    ).toBe("7||1|d|none|false");
  });

  it("sees messages without what says nothing", () => {
    const message = { role: "assistant", content: null, tool_calls: [], name: null, reasoning_content: "r" };
    expect(promptOf("{{ messages[0] | tojson }}", { messages: [message] })).toBe(
      '{"role": "assistant", "reasoning_content": "r", "content": ""}',
    );
  });

  it("knows the time, ranges and namespaces", () => {
    expect(
      promptOf("{{ strftime_now('%Y') | length }}{% for i in range(1, 6, 2) %}{{ i }}{% endfor %}", { messages: user }),
    ).toBe("4135");
    expect(
      promptOf("{% set n = namespace(a=1) %}{% for m in messages %}{% set n.a = 2 %}{% endfor %}{{ n.a }}", {
        messages: user,
      }),
    ).toBe("2");
  });

  it("says what is wrong with a chat", () => {
    expect(refused("{{ raise_exception('Roles must alternate') }}", { messages: user })).toEqual({
      status: 400,
      code: "invalid_value",
      param: "messages",
      message: "Roles must alternate",
    });
  });

  it.each([
    ["no Jinja", "{% if %}"],
    ["an error at work", "{{ messages.nothing.more.at.all() }}"],
    ["a range without end", "{{ range(1000000000) }}"],
    ["a range that stands still", "{{ range(0, 5, 0) }}"],
    ["recursion", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"],
  ])("is the operator's to mend: %s", (_what, template) => {
    const first = refused(template, { messages: user });
    expect(first).toMatchObject({ status: 502, code: "template_failed", param: null });
    expect(first.message).not.toContain("messages.nothing");
    expect(refused(template, { messages: user })).toEqual(first);
  });
});

describe("the request", () => {
  it("becomes one for a completion, and what it does not know keeps its bytes", () => {
    const text =
      '{"model":"m","messages":[{"role":"user","content":"x"}],"temperature":0.10,"seed":9007199254740993,"n":2,"stream":true,' +
      '"stream_options":{"include_usage":true},"response_format":{"type":"json_object"},"top_k":5,"custom":{"a":1.0},' +
      '"max_tokens":7,"stop":["a","<|im_end|>"],"tools":[],"store":true,"echo":true,"user":"u","logprobs":false,"include_reasoning":false}';
    const result = toPrompt(text, "chatml");
    if (!result.ok) throw new Error("refused");
    expect(result.value.text).toBe(
      '{"model":"m","temperature":0.10,"seed":9007199254740993,"n":2,"stream":true,"stream_options":{"include_usage":true},' +
        '"response_format":{"type":"json_object"},"top_k":5,"custom":{"a":1.0},"max_tokens":7,"stop":["a","<|im_end|>","<|endoftext|>"],' +
        '"user":"u","prompt":"<|im_start|>user\\nx<|im_end|>\\n<|im_start|>assistant\\n","add_special_tokens":false,"skip_special_tokens":false}',
    );
    expect(result.value.bounded).toBe(true);
    expect(result.value.changed).toContain("messages->prompt");
    expect(result.value.changed).toContain("-store");
  });

  it.each([
    [{ logprobs: true }, 0],
    [{ logprobs: true, top_logprobs: 3 }, 3],
    [{ logprobs: false, top_logprobs: 3 }, undefined],
    [{}, undefined],
  ])("%j", (asked, wanted) => {
    const body = sent("chatml", { messages: user, ...asked });
    expect([body["logprobs"], body["top_logprobs"]]).toEqual([wanted, undefined]);
  });

  it.each([
    [{ max_completion_tokens: 5 }, 5],
    [{ max_completion_tokens: 5, max_tokens: 6 }, 5],
    [{ max_completion_tokens: null, max_tokens: 6 }, 6],
  ])("%j", (asked, wanted) => {
    const body = sent("chatml", { messages: user, ...asked });
    expect([body["max_tokens"], body["max_completion_tokens"]]).toEqual([wanted, undefined]);
  });

  it("goes on with a message", () => {
    const messages = [...user, { role: "assistant", content: "It is " }];
    expect(promptOf("chatml", { messages, continue_final_message: true })).toBe(
      `${im("user", "hello")}<|im_start|>assistant\nIt is`,
    );
    expect(refused("chatml", { messages, continue_final_message: true, add_generation_prompt: true }).status).toBe(400);
    expect(promptOf("chatml", { messages: user, add_generation_prompt: false })).toBe(im("user", "hello"));
  });

  it("knows whether the prompt has opened a thought", () => {
    expect(rendered("{{ messages[0].content }}<think>\n", { messages: user }).opened).toBe(true);
    expect(rendered("chatml", { messages: user }).opened).toBe(false);
  });

  it.each([
    [
      [
        { type: "text", text: "a" },
        { type: "image_url", image_url: { url: "data:," } },
      ],
      "messages[1].content[1]",
    ],
    [[{ type: "input_audio", input_audio: {} }], "messages[1].content[0]"],
    [[{ type: "file", file: {} }], "messages[1].content[0]"],
    [[7], "messages[1].content[0]"],
    [{ a: 1 }, "messages[1].content"],
  ])("has no place for %j", (content, param) => {
    expect(refused("chatml", { messages: [...user, { role: "user", content }] })).toMatchObject({ status: 400, param });
  });

  it.each([
    ["[1", "arguments are not JSON"],
    ["[".repeat(200) + "]".repeat(200), "arguments are not JSON"],
  ])("refuses calls with arguments %j", (args, message) => {
    const calls = [{ type: "function", function: { name: "f", arguments: args } }];
    const fault = refused("chatml", { messages: [{ role: "assistant", tool_calls: calls }] });
    expect(fault).toMatchObject({ status: 400, param: "messages[0].tool_calls[0]" });
    expect(fault.message).toContain(message);
  });

  it("brings no template of its own", () => {
    expect(refused("chatml", { messages: user, chat_template: "{{ 1 }}" })).toMatchObject({
      status: 400,
      param: "chat_template",
    });
    expect(refused("chatml", { messages: user, chat_template_kwargs: [1] })).toMatchObject({
      status: 400,
      param: "chat_template_kwargs",
    });
  });
});
