import type { Rule } from "./draft.ts";

/** The likeliest token each time: nothing is left to `top_p` and `top_k`, and some servers refuse them beside it. */
export const greedy: Rule = {
  name: "greedy",
  apply(draft) {
    if (draft.get("temperature") !== 0) return undefined;
    for (const name of ["top_p", "top_k"]) if (draft.has(name)) draft.drop(name);
    const way = draft.target.capabilities.greedy;
    if (way === "temperature_0") return undefined;
    const to = way === "top_k_1" ? "top_k" : "do_sample";
    draft.drop("temperature", `temperature->${to}`);
    draft.set(to, way === "top_k_1" ? 1 : false, `temperature->${to}`);
    return undefined;
  },
};
