/** How each family writes calls: a new family costs one row. */
export interface FamilyRow {
  readonly family: string;
  /** Several calls as the model writes them. */
  write(calls: readonly SpelledCall[]): string;
  /** A call of `get_weather` whose arguments never become JSON. */
  readonly broken: string;
  /** The ids that the text carries. */
  readonly ids?: readonly string[];
  /** The form has no beginning that tells it from text behind other text. */
  readonly onlyAtStart?: true;
}

export interface SpelledCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

const call = ({ name, args }: SpelledCall, key = "arguments"): string => JSON.stringify({ name, [key]: args });
const bareText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
const parameters = (args: SpelledCall["args"], write: (key: string, value: string) => string): string =>
  Object.entries(args)
    .map(([key, value]) => write(key, bareText(value)))
    .join("");

const python = (value: unknown): string => {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value === "string")
    return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", "\\n")}'`;
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value === "object")
    return `{${Object.entries(value)
      .map(([key, one]) => `${python(key)}: ${python(one)}`)
      .join(", ")}}`;
  return JSON.stringify(value);
};
const pythonCall = ({ name, args }: SpelledCall): string =>
  `${name}(${Object.entries(args)
    .map(([key, value]) => `${key}=${python(value)}`)
    .join(", ")})`;

const gemma = (value: unknown, quote: string): string => {
  if (typeof value === "string") return quote + value + quote;
  if (Array.isArray(value)) return `[${value.map((one) => gemma(one, quote)).join(",")}]`;
  if (typeof value === "object" && value !== null)
    return `{${Object.entries(value)
      .map(([key, one]) => `${key}:${gemma(one, quote)}`)
      .join(",")}}`;
  return JSON.stringify(value);
};

const coder = ({ name, args }: SpelledCall): string =>
  `<function=${name}>\n${parameters(args, (key, value) => `<parameter=${key}>\n${value}\n</parameter>\n`)}</function>`;
const keyed = (args: SpelledCall["args"]): string =>
  parameters(args, (key, value) => `<arg_key>${key}</arg_key>\n<arg_value>${value}</arg_value>\n`);
const invoke = ({ name, args }: SpelledCall, element: string, parameter: string): string =>
  `<${element} name="${name}">\n${parameters(args, (key, value) => `<${parameter} name="${key}">${value}</${parameter}>\n`)}</${element}>`;

export const FAMILY_ROWS: readonly FamilyRow[] = [
  {
    family: "hermes",
    write: (calls) => calls.map((one) => `<tool_call>\n${call(one)}\n</tool_call>`).join("\n"),
    broken: '<tool_call>\n{"name": "get_weather", "arguments": {"city": \n</tool_call>',
  },
  {
    family: "llama3",
    write: (calls) => `<|python_tag|>${calls.map((one) => call(one, "parameters")).join("; ")}`,
    broken: '<|python_tag|>{"name": "get_weather", "parameters": {"city": Oslo}}',
  },
  {
    family: "llama3",
    write: (calls) => calls.map((one) => call(one, "parameters")).join("\n"),
    broken: '{"name": "get_weather", "parameters": {"city": Oslo}}',
    onlyAtStart: true,
  },
  {
    family: "llama3",
    write: (calls) => calls.map(({ name, args }) => `<function=${name}>${JSON.stringify(args)}</function>`).join("\n"),
    broken: '<function=get_weather>{"city": Oslo}</function>',
  },
  {
    family: "pythonic",
    write: (calls) => `[${calls.map(pythonCall).join(", ")}]`,
    broken: "[get_weather(city=Oslo)]",
    onlyAtStart: true,
  },
  {
    family: "pythonic",
    write: (calls) => `<|python_start|>[${calls.map(pythonCall).join(", ")}]<|python_end|>`,
    broken: "<|python_start|>[get_weather(city=Oslo)]<|python_end|>",
  },
  {
    family: "pythonic",
    write: (calls) => `<function_calls>\n${calls.map(pythonCall).join("\n")}\n</function_calls>`,
    broken: "<function_calls>get_weather(city=Oslo)</function_calls>",
  },
  {
    family: "lfm2",
    write: (calls) => `<|tool_call_start|>[${calls.map(pythonCall).join(", ")}]<|tool_call_end|>`,
    broken: '<|tool_call_start|>[get_weather(city="Oslo]<|tool_call_end|>',
  },
  {
    family: "granite",
    write: (calls) => `<|tool_call|> [${calls.map((one) => call(one)).join(", ")}]`,
    broken: '<|tool_call|> [{"name": "get_weather", "arguments": {"city": }}]',
  },
  {
    family: "granite-20b-fc",
    write: (calls) => calls.map((one) => `<function_call> ${call(one)}`).join("\n"),
    broken: '<function_call> {"name": "get_weather", "arguments": {"city": }}',
  },
  {
    family: "qwen3-coder",
    write: (calls) => calls.map((one) => `<tool_call>\n${coder(one)}\n</tool_call>`).join("\n"),
    broken: "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</tool_call>",
  },
  {
    family: "qwen3-coder",
    write: (calls) => calls.map(coder).join("\n"),
    broken: "<function=get_weather>\n<parameter=city\n",
  },
  {
    family: "seed-oss",
    write: (calls) => `<seed:tool_call>\n${calls.map(coder).join("\n")}\n</seed:tool_call>`,
    broken: "<seed:tool_call><function=get_weather><parameter=city>Oslo</seed:tool_call>",
  },
  {
    family: "mistral",
    write: (calls) => `[TOOL_CALLS][${calls.map((one) => call(one)).join(", ")}]`,
    broken: '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": }}]',
  },
  {
    family: "mistral",
    write: (calls) => calls.map(({ name, args }) => `[TOOL_CALLS]${name}[ARGS]${JSON.stringify(args)}`).join(""),
    broken: '[TOOL_CALLS]get_weather[ARGS]{"city": }',
  },
  {
    family: "mistral",
    write: (calls) =>
      calls
        .map(({ name, args }, i) => `[TOOL_CALLS]${name}[CALL_ID]abc12345${i}[ARGS]${JSON.stringify(args)}`)
        .join(""),
    broken: "[TOOL_CALLS]get_weather[CALL_ID]",
    ids: ["abc123450", "abc123451"],
  },
  {
    family: "mistral",
    write: (calls) => calls.map(({ name, args }) => `[TOOL_CALLS]${name}${JSON.stringify(args)}`).join(""),
    broken: '[TOOL_CALLS]get_weather{"city": }',
  },
  {
    family: "deepseek-v3",
    write: (calls) =>
      `<｜tool▁calls▁begin｜>${calls
        .map(
          ({ name, args }) =>
            `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${JSON.stringify(args)}\n\`\`\`<｜tool▁call▁end｜>`,
        )
        .join("\n")}<｜tool▁calls▁end｜>`,
    broken:
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{"city": }\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  },
  {
    family: "deepseek-v31",
    write: (calls) =>
      `<｜tool▁calls▁begin｜>${calls
        .map(({ name, args }) => `<｜tool▁call▁begin｜>${name}<｜tool▁sep｜>${JSON.stringify(args)}<｜tool▁call▁end｜>`)
        .join("")}<｜tool▁calls▁end｜>`,
    broken:
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": }<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  },
  {
    family: "deepseek-v32",
    write: (calls) =>
      `<｜DSML｜function_calls>\n${calls
        .map(
          ({ name, args }) =>
            `<｜DSML｜invoke name="${name}">\n${Object.entries(args)
              .map(
                ([key, value]) =>
                  `<｜DSML｜parameter name="${key}" string="${typeof value === "string"}">${bareText(value)}</｜DSML｜parameter>\n`,
              )
              .join("")}</｜DSML｜invoke>\n`,
        )
        .join("")}</｜DSML｜function_calls>`,
    broken:
      '<｜DSML｜function_calls><｜DSML｜invoke name="get_weather"><｜DSML｜parameter name="city"></｜DSML｜function_calls>',
  },
  {
    family: "kimi-k2",
    write: (calls) =>
      `<|tool_calls_section_begin|>${calls
        .map(
          ({ name, args }, i) =>
            `<|tool_call_begin|>functions.${name}:${i}<|tool_call_argument_begin|>${JSON.stringify(args)}<|tool_call_end|>`,
        )
        .join("")}<|tool_calls_section_end|>`,
    broken:
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": }<|tool_call_end|><|tool_calls_section_end|>',
    ids: ["functions.get_weather:0", "functions.now:1"],
  },
  {
    family: "glm45",
    write: (calls) => calls.map(({ name, args }) => `<tool_call>${name}\n${keyed(args)}</tool_call>`).join("\n"),
    broken: "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</tool_call>",
  },
  {
    family: "hy-v3",
    write: (calls) =>
      `<tool_calls>${calls.map(({ name, args }) => `<tool_call>${name}<tool_sep>${keyed(args)}</tool_call>`).join("\n")}</tool_calls>`,
    broken: "<tool_calls><tool_call>get_weather<tool_sep><arg_key>city</tool_call></tool_calls>",
  },
  {
    family: "minimax-m2",
    write: (calls) =>
      `<minimax:tool_call>\n${calls.map((one) => invoke(one, "invoke", "parameter")).join("\n")}\n</minimax:tool_call>`,
    broken: '<minimax:tool_call><invoke name="get_weather"><parameter name="city">Oslo</minimax:tool_call>',
  },
  {
    family: "minimax-m1",
    write: (calls) => `<tool_calls>\n${calls.map((one) => call(one)).join("\n")}\n</tool_calls>`,
    broken: '<tool_calls>\n{"name": "get_weather", "arguments": {"city": }}\n</tool_calls>',
  },
  {
    family: "jamba",
    write: (calls) => `<tool_calls>[${calls.map((one) => call(one)).join(",\n")}]</tool_calls>`,
    broken: '<tool_calls>[{"name": "get_weather", "arguments": {"city": }}]</tool_calls>',
  },
  {
    family: "internlm",
    write: (calls) =>
      calls.map((one) => `<|action_start|><|plugin|>\n${call(one, "parameters")}<|action_end|>`).join("\n"),
    broken: '<|action_start|><|plugin|>{"name": "get_weather", "parameters": {"city": }}<|action_end|>',
  },
  {
    family: "phi4-mini",
    write: (calls) => `functools[${calls.map((one) => call(one)).join(", ")}]`,
    broken: 'functools[{"name": "get_weather", "arguments": {"city": }}]',
  },
  {
    family: "step3",
    write: (calls) =>
      `<｜tool_calls_begin｜>${calls
        .map(
          (one) =>
            `<｜tool_call_begin｜>function<｜tool_sep｜>${invoke(one, "steptml:invoke", "steptml:parameter")}<｜tool_call_end｜>`,
        )
        .join("<｜tool_sep｜>")}<｜tool_calls_end｜>`,
    broken: '<｜tool_calls_begin｜><｜tool_call_begin｜><steptml:invoke name="get_weather"><｜tool_calls_end｜>',
  },
  {
    family: "longcat",
    write: (calls) => calls.map((one) => `<longcat_tool_call>${call(one)}</longcat_tool_call>`).join(""),
    broken: '<longcat_tool_call>{"name": "get_weather", "arguments": {"city": }}</longcat_tool_call>',
  },
  {
    family: "cohere",
    write: (calls) =>
      `<|START_ACTION|>[${calls
        .map(({ name, args }, i) => JSON.stringify({ tool_call_id: String(i), tool_name: name, parameters: args }))
        .join(",\n")}]<|END_ACTION|>`,
    broken: '<|START_ACTION|>[{"tool_name": "get_weather", "parameters": {"city": }}]<|END_ACTION|>',
  },
  {
    family: "gemma4",
    write: (calls) =>
      calls.map(({ name, args }) => `<|tool_call>call:${name}${gemma(args, '<|"|>')}<tool_call|>`).join(""),
    broken: "<|tool_call>call:get_weather{city:<tool_call|>",
  },
  {
    family: "functiongemma",
    write: (calls) =>
      calls
        .map(({ name, args }) => `<start_function_call>call:${name}${gemma(args, "<escape>")}<end_function_call>`)
        .join(""),
    broken: "<start_function_call>call:get_weather{city:<escape>Oslo}<end_function_call>",
  },
  {
    family: "apertus",
    write: (calls) =>
      `<|tools_prefix|>[${calls.map(({ name, args }) => JSON.stringify({ [name]: args })).join(", ")}]<|tools_suffix|>`,
    broken: '<|tools_prefix|>[{"get_weather": {"city": }}]<|tools_suffix|>',
  },
  {
    family: "gigachat3",
    write: (calls) => calls.map((one) => `<|function_call|>${call(one)}`).join("\n"),
    broken: '<|function_call|>{"name": "get_weather", "arguments": {"city": }}',
  },
  {
    family: "minicpm5",
    write: (calls) => calls.map((one) => invoke(one, "function", "param")).join("\n"),
    broken: '<function name="get_weather"><param name="city">Oslo</function>',
  },
  {
    family: "xlam",
    write: (calls) => `\`\`\`json\n[${calls.map((one) => call(one)).join(", ")}]\n\`\`\``,
    broken: '```json\n[{"name": "get_weather", "arguments": {"city": }}]\n```',
  },
  {
    family: "harmony",
    write: (calls) =>
      calls
        .map(
          ({ name, args }) =>
            `<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>${JSON.stringify(args)}<|call|>`,
        )
        .join("<|start|>assistant"),
    broken: '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": }<|call|> no',
  },
  {
    family: "json",
    write: (calls) => `[${calls.map((one) => call(one)).join(", ")}]`,
    broken: '[{"name": "get_weather", "arguments": {"city": }}]',
    onlyAtStart: true,
  },
];
