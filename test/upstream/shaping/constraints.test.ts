import { describe, expect, it } from "vitest";
import type { Capabilities } from "../../../src/upstream/provider.ts";
import { invalid, shaped, unsupported } from "./shaping.ts";

type Members = Record<string, unknown>;
const schema = { type: "object", properties: { a: { enum: ["x", null] } } };
const asFormat = { type: "json_schema", json_schema: { name: "answer", schema } };

const table: [string, Partial<Capabilities>, Members, unknown][] = [
  [
    "to vLLM of today",
    { constraints: "structured_outputs" },
    { guided_json: schema, guided_whitespace_pattern: " ", guided_decoding_backend: "x" },
    {
      structured_outputs: { json: schema, whitespace_pattern: " " },
      changed: "-guided_decoding_backend, -guided_whitespace_pattern, guided_json->structured_outputs",
    },
  ],
  [
    "a regex to vLLM of today",
    { constraints: "structured_outputs" },
    { guided_regex: "a+" },
    { structured_outputs: { regex: "a+" }, changed: "guided_regex->structured_outputs" },
  ],
  [
    "a choice to vLLM of today",
    { constraints: "structured_outputs" },
    { guided_choice: ["a", "b"] },
    { structured_outputs: { choice: ["a", "b"] }, changed: "guided_choice->structured_outputs" },
  ],
  [
    "a grammar to vLLM of today",
    { constraints: "structured_outputs" },
    { guided_grammar: "root ::= a" },
    { structured_outputs: { grammar: "root ::= a" }, changed: "guided_grammar->structured_outputs" },
  ],
  [
    "what vLLM of today knows",
    { constraints: "structured_outputs" },
    { structured_outputs: { regex: "a" } },
    { structured_outputs: { regex: "a" }, changed: "" },
  ],
  [
    "to vLLM of old",
    { constraints: "guided" },
    { structured_outputs: { regex: "a+", disable_any_whitespace: true } },
    { guided_regex: "a+", changed: "structured_outputs->guided_regex" },
  ],
  [
    "a schema to vLLM of old",
    { constraints: "guided" },
    { structured_outputs: { json: schema } },
    { guided_json: schema, changed: "structured_outputs->guided_json" },
  ],
  [
    "any object to vLLM of old",
    { constraints: "guided" },
    { structured_outputs: { json_object: true } },
    { response_format: { type: "json_object" }, changed: "structured_outputs->response_format" },
  ],
  ["what vLLM of old knows", { constraints: "guided" }, { guided_json: schema }, { guided_json: schema, changed: "" }],
  [
    "what vLLM of old does not know",
    { constraints: "guided" },
    { structured_outputs: { structural_tag: "x" } },
    unsupported("structured_outputs"),
  ],
  [
    "a regex to SGLang",
    { constraints: "regex_ebnf" },
    { guided_regex: "a+" },
    { regex: "a+", changed: "guided_regex->regex" },
  ],
  [
    "a grammar to SGLang",
    { constraints: "regex_ebnf" },
    { structured_outputs: { grammar: "g" } },
    { ebnf: "g", changed: "structured_outputs->ebnf" },
  ],
  [
    "a choice to SGLang",
    { constraints: "regex_ebnf" },
    { guided_choice: ["a.b", "c(d)"] },
    { regex: "(a\\.b|c\\(d\\))", changed: "guided_choice->regex" },
  ],
  [
    "a schema to SGLang",
    { constraints: "regex_ebnf" },
    { guided_json: schema },
    { response_format: asFormat, changed: "guided_json->response_format" },
  ],
  [
    "a schema to others",
    { constraints: "none" },
    { guided_json: schema },
    { response_format: asFormat, changed: "guided_json->response_format" },
  ],
  [
    "a schema as text to others",
    { constraints: "none" },
    { guided_json: JSON.stringify(schema) },
    { response_format: asFormat, changed: "guided_json->response_format" },
  ],
  ["a schema that is none to others", { constraints: "none" }, { guided_json: "{" }, invalid("guided_json")],
  [
    "a schema to others without",
    { constraints: "none", json_schema: false },
    { guided_json: schema },
    unsupported("guided_json"),
  ],
  [
    "any object to others",
    { constraints: "none" },
    { structured_outputs: { json_object: true } },
    { response_format: { type: "json_object" }, changed: "structured_outputs->response_format" },
  ],
  [
    "any object to others without",
    { constraints: "none", json_object: false },
    { structured_outputs: { json_object: true } },
    unsupported("structured_outputs"),
  ],
  ["a grammar to others", { constraints: "none" }, { guided_grammar: "g" }, unsupported("guided_grammar")],
  [
    "to a server that nobody knows",
    {},
    { guided_json: schema, structured_outputs: { regex: "a" } },
    { guided_json: schema, structured_outputs: { regex: "a" }, changed: "" },
  ],
];

describe("constraints", () => {
  it.each(table)("%s", (_name, can, members, expected) => expect(shaped(members, { can })).toEqual(expected));
  it.each(["structured_outputs", "guided", "regex_ebnf", "none", "any"] as const)(
    "a response_format is left alone by %s",
    (constraints) => {
      expect(shaped({ response_format: asFormat }, { can: { constraints } })).toEqual({
        response_format: asFormat,
        changed: "",
      });
    },
  );
});
