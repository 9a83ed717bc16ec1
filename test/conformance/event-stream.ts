// The event stream parser of the checker: WHATWG rules for a body in which only LF may end a line. It shares no code
// with the product on purpose, or both could be wrong in the same way.
import { show } from "./json.ts";
import type { Problem } from "./strict.ts";

export interface StreamEvent {
  readonly data: string;
  /** Offset of the first byte after the event's blank line. */
  readonly end: number;
  /** Number of data lines. */
  readonly lines: number;
}

export interface ParsedStream {
  readonly events: readonly StreamEvent[];
  readonly problems: readonly Problem[];
  readonly fields: ReadonlySet<string>;
  readonly comments: number;
}

const LF = 10;
const CR = 13;
const KNOWN_FIELDS = ["data", "event", "id", "retry"];

export function parseEventStream(bytes: Uint8Array): ParsedStream {
  const events: StreamEvent[] = [];
  const problems: Problem[] = [];
  const fields = new Set<string>();
  const lenient = new TextDecoder("utf-8", { ignoreBOM: true });
  let data: string[] = [];
  let otherFields = false;
  let comments = 0;

  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    problems.push({ rule: "utf8", message: "the stream is not valid UTF-8" });
  }
  if (bytes.includes(CR)) problems.push({ rule: "lf-only", message: "CR byte in the stream" });

  const readLine = (line: string, end: number): void => {
    if (line === "") {
      if (data.length) events.push({ data: data.join("\n"), end, lines: data.length });
      else if (otherFields) problems.push({ rule: "sse-field", message: "an event with fields but without data" });
      data = [];
      otherFields = false;
    } else if (line.startsWith(":")) {
      comments++;
    } else {
      const name = line.split(":", 1)[0] ?? "";
      if (!KNOWN_FIELDS.includes(name)) problems.push({ rule: "sse-field", message: `unknown line ${show(line)}` });
      fields.add(line.startsWith("data:") && !line.startsWith("data: ") ? "data without space" : name);
      if (name === "data") data.push(line.slice(5).replace(/^ /, ""));
      else otherFields = true;
    }
  };

  let start = 0;
  for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
    readLine(lenient.decode(bytes.subarray(start, end)), end + 1);
    start = end + 1;
  }
  if (start < bytes.length || data.length || otherFields) {
    problems.push({ rule: "unterminated", message: "the stream ends inside an event" });
  }
  return { events, problems, fields, comments };
}
