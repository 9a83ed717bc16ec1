/**
 * Llama 3.1 and later, as those models were trained: tools stand in the first message of the user, a call is a JSON object, its result
 * comes from `ipython`. Several calls in one message are told as the model writes them, with semicolons between.
 */
const LLAMA3 = String.raw`
{%- set head = "<|start_header_id|>" %}
{%- set body = "<|end_header_id|>\n\n" %}
{%- set today = date_string if date_string is defined else "26 Jul 2024" %}
{%- set in_user_message = tools_in_user_message if tools_in_user_message is defined else true %}
{%- macro offered() %}
  {{- 'Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}.' }}
  {{- "Do not use variables.\n\n" }}
  {%- for tool in tools %}
    {{- tool | tojson(indent=4) }}
    {{- "\n\n" }}
  {%- endfor %}
{%- endmacro %}
{{- bos_token + head + "system" + body }}
{%- if tools %}
  {{- "Environment: ipython\n" }}
{%- endif %}
{{- "Cutting Knowledge Date: December 2023\nToday Date: " + today + "\n\n" }}
{%- if tools and not in_user_message %}
  {{- "You have access to the following functions. To call a function, please respond with JSON for a function call." }}
  {{- offered() }}
{%- endif %}
{%- if messages[0].role == "system" %}
  {{- messages[0].content | trim }}
  {%- set messages = messages[1:] %}
{%- endif %}
{{- "<|eot_id|>" }}
{%- if tools and in_user_message %}
  {%- if not messages %}
    {{- raise_exception("Tools are told in the first message of the user, and there is none.") }}
  {%- endif %}
  {{- head + "user" + body }}
  {{- "Given the following functions, please respond with a JSON for a function call " }}
  {{- "with its proper arguments that best answers the given prompt.\n\n" }}
  {{- offered() }}
  {{- messages[0].content | trim }}
  {{- "<|eot_id|>" }}
  {%- set messages = messages[1:] %}
{%- endif %}
{%- for message in messages %}
  {%- if message.role == "tool" or message.role == "ipython" %}
    {{- head + "ipython" + body }}
    {{- message.content | tojson }}
  {%- else %}
    {{- head + message.role + body }}
    {{- message.content | trim if not message.tool_calls else "" }}
    {%- for call in message.tool_calls or [] %}
      {{- '{"name": "' + call.function.name + '", "parameters": ' }}
      {{- call.function.arguments | tojson }}
      {{- "}" if loop.last else "}; " }}
    {%- endfor %}
  {%- endif %}
  {{- "<|eot_id|>" }}
{%- endfor %}
{%- if add_generation_prompt %}
  {{- head + "assistant" + body }}
{%- endif %}
`;

/** ChatML, with tools and their calls as Hermes and Qwen have them. */
const CHATML = String.raw`
{%- if tools %}
  {{- "<|im_start|>system\n" }}
  {%- if messages[0].role == "system" %}
    {{- messages[0].content + "\n\n" }}
  {%- endif %}
  {{- "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n" }}
  {{- "You are provided with function signatures within <tools></tools> XML tags:\n<tools>" }}
  {%- for tool in tools %}
    {{- "\n" }}
    {{- tool | tojson }}
  {%- endfor %}
  {{- "\n</tools>\n\nFor each function call, return a json object with function name and arguments " }}
  {{- "within <tool_call></tool_call> XML tags:\n<tool_call>\n" }}
  {{- '{"name": <function-name>, "arguments": <args-json-object>}' }}
  {{- "\n</tool_call><|im_end|>\n" }}
  {%- if messages[0].role == "system" %}
    {%- set messages = messages[1:] %}
  {%- endif %}
{%- endif %}
{%- for message in messages %}
  {%- if message.role == "tool" %}
    {%- if loop.first or loop.previtem.role != "tool" %}
      {{- "<|im_start|>user" }}
    {%- endif %}
    {{- "\n<tool_response>\n" + message.content + "\n</tool_response>" }}
    {%- if loop.last or loop.nextitem.role != "tool" %}
      {{- "<|im_end|>\n" }}
    {%- endif %}
  {%- else %}
    {{- "<|im_start|>" + message.role }}
    {%- if message.content or not message.tool_calls %}
      {{- "\n" + message.content }}
    {%- endif %}
    {%- for call in message.tool_calls or [] %}
      {{- '\n<tool_call>\n{"name": "' + call.function.name + '", "arguments": ' }}
      {{- call.function.arguments | tojson }}
      {{- "}\n</tool_call>" }}
    {%- endfor %}
    {{- "<|im_end|>\n" }}
  {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
  {{- "<|im_start|>assistant\n" }}
{%- endif %}
`;

/** The templates that have a name. */
export const BUILT_IN: ReadonlyMap<string, string> = new Map([
  ["llama3", LLAMA3],
  ["chatml", CHATML],
]);
