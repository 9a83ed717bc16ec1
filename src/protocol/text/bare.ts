import type { BareBeginning } from "./family.ts";

// Nobody means a call who has not begun it by then.
const LONGEST = 256;

/** Whether a text begins in one of these ways; `maybe`: more text may make it so. */
export function beginsBare(text: string, beginnings: readonly BareBeginning[]): "yes" | "maybe" | "no" {
  const verdicts = beginnings.map((parts) => beginsWith(text, parts));
  if (verdicts.includes("yes")) return "yes";
  return verdicts.includes("maybe") && text.length < LONGEST ? "maybe" : "no";
}

function beginsWith(text: string, parts: BareBeginning): "yes" | "maybe" | "no" {
  let at = 0;
  for (const part of parts) {
    while (at < text.length && text.charAt(at).trim() === "") at++;
    const rest = text.slice(at, at + part.length);
    if (rest !== part) return part.startsWith(rest) ? "maybe" : "no";
    at += part.length;
  }
  return "yes";
}
