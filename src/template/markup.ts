/** The special tokens of one family of chat templates. */
export interface Markup {
  /** What only templates of this family have in them. */
  readonly sign: string;
  /** `bos_token`, `eos_token` of the template; `""` where the models have none. */
  readonly bos: string;
  readonly eos: string;
  /** Where an answer is over. */
  readonly stops: readonly string[];
}

// In reading order: the first one whose sign is in the template counts.
const FAMILIES: readonly Markup[] = [
  {
    sign: "<|start_header_id|>",
    bos: "<|begin_of_text|>",
    eos: "<|eot_id|>",
    stops: ["<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"],
  },
  { sign: "<|header_start|>", bos: "<|begin_of_text|>", eos: "<|eot|>", stops: ["<|eot|>", "<|eom|>"] },
  { sign: "<|im_start|>", bos: "", eos: "<|im_end|>", stops: ["<|im_end|>", "<|endoftext|>"] },
  { sign: "<start_of_turn>", bos: "<bos>", eos: "<eos>", stops: ["<end_of_turn>", "<eos>"] },
  { sign: "<|turn>", bos: "<bos>", eos: "<eos>", stops: ["<turn|>", "<eos>"] },
  {
    sign: "<｜User｜>",
    bos: "<｜begin▁of▁sentence｜>",
    eos: "<｜end▁of▁sentence｜>",
    stops: ["<｜end▁of▁sentence｜>"],
  },
  {
    sign: "<|START_OF_TURN_TOKEN|>",
    bos: "<BOS_TOKEN>",
    eos: "<|END_OF_TURN_TOKEN|>",
    stops: ["<|END_OF_TURN_TOKEN|>"],
  },
  { sign: "<|start_of_role|>", bos: "<|end_of_text|>", eos: "<|end_of_text|>", stops: ["<|end_of_text|>"] },
  { sign: "[INST]", bos: "<s>", eos: "</s>", stops: ["</s>"] },
  { sign: "<|assistant|>", bos: "", eos: "<|endoftext|>", stops: ["<|end|>", "<|endoftext|>", "<|user|>"] },
];

const UNKNOWN: Markup = { sign: "", bos: "", eos: "", stops: [] };

/** The special tokens that go with a template, by what it writes; a template of another family sets `bos_token` itself. */
export const markupOf = (template: string): Markup => FAMILIES.find(({ sign }) => template.includes(sign)) ?? UNKNOWN;
