/** A form in which models write their thoughts. */
export interface ThoughtForm {
  readonly openings: readonly string[];
  readonly closings: readonly string[];
  /** Whether a closing tag alone says that all before it was thought (a template may have put the opening tag into the prompt). */
  readonly orphan: boolean;
}

export interface ReasoningFamily {
  readonly name: string;
  readonly forms: readonly ThoughtForm[];
  /** The opening tag is in the prompt: the text begins with thoughts. */
  readonly opened: boolean;
  /** Tags around the answer, which are no part of it. */
  readonly answer: { readonly openings: readonly string[]; readonly closings: readonly string[] };
}

const NO_TAGS = { openings: [], closings: [] };

const THINK: ThoughtForm = { openings: ["<think>"], closings: ["</think>"], orphan: true };
const SEED: ThoughtForm = { openings: ["<seed:think>"], closings: ["</seed:think>"], orphan: true };
const MISTRAL: ThoughtForm = { openings: ["[THINK]"], closings: ["[/THINK]"], orphan: true };
const COHERE: ThoughtForm = { openings: ["<|START_THINKING|>"], closings: ["<|END_THINKING|>"], orphan: true };
const GEMMA4: ThoughtForm = {
  openings: ["<|channel>thought\n", "<|channel>thought"],
  closings: ["<channel|>"],
  orphan: false,
};
const HARMONY: ThoughtForm = {
  openings: ["<|channel|>analysis<|message|>", "<|start|>assistant<|channel|>analysis<|message|>"],
  closings: ["<|end|>"],
  orphan: false,
};
const GRANITE: ThoughtForm = {
  openings: ["Here is my thought process:", "Here's my thought process:"],
  closings: ["Here is my response:", "Here's my response:"],
  orphan: false,
};

const COHERE_ANSWER = {
  openings: ["<|START_RESPONSE|>", "<|START_TEXT|>"],
  closings: ["<|END_RESPONSE|>", "<|END_TEXT|>"],
};
const HARMONY_ANSWER = {
  openings: ["<|start|>assistant", ""].flatMap((start) =>
    ["final", "commentary"].map((channel) => `${start}<|channel|>${channel}<|message|>`),
  ),
  closings: ["<|end|>", "<|return|>"],
};

/** The families by name. `-open`: with the opening tag in the prompt. */
export const REASONING_FAMILIES: ReadonlyMap<string, ReasoningFamily> = new Map(
  [
    { name: "think", forms: [THINK], opened: false, answer: NO_TAGS },
    { name: "think-open", forms: [THINK], opened: true, answer: NO_TAGS },
    { name: "hunyuan", forms: [THINK], opened: false, answer: { openings: ["<answer>"], closings: ["</answer>"] } },
    { name: "ernie", forms: [THINK], opened: false, answer: { openings: ["<response>"], closings: ["</response>"] } },
    { name: "seed", forms: [SEED], opened: false, answer: NO_TAGS },
    { name: "mistral", forms: [MISTRAL], opened: false, answer: NO_TAGS },
    { name: "cohere", forms: [COHERE], opened: false, answer: COHERE_ANSWER },
    { name: "gemma4", forms: [GEMMA4], opened: false, answer: NO_TAGS },
    { name: "granite", forms: [GRANITE, THINK], opened: false, answer: NO_TAGS },
    { name: "harmony", forms: [HARMONY], opened: false, answer: HARMONY_ANSWER },
  ].map((family) => [family.name, family]),
);

/** For a model whose name says nothing: whatever tag the text begins with. */
export const ANY_REASONING: ReasoningFamily = {
  name: "auto",
  forms: [THINK, SEED, MISTRAL, COHERE, GEMMA4, HARMONY],
  opened: false,
  answer: {
    openings: [...COHERE_ANSWER.openings, ...HARMONY_ANSWER.openings],
    closings: [...COHERE_ANSWER.closings, ...HARMONY_ANSWER.closings],
  },
};
