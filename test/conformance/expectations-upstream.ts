import type { WantedRequest, WantedUpstream } from "./cases.ts";
import type { Say, Seen } from "./expectations.ts";
import { at, show } from "./json.ts";
import { matches, valueAt } from "./match.ts";
import type { SeenRequest } from "./mock-request.ts";
import type { Run } from "./mock.ts";

export const isAllClosed = ({ requests }: Run): boolean =>
  requests.length > 0 && requests.every((request) => request.closedAt !== undefined);

export function checkUpstream(want: WantedUpstream, seen: Seen, say: Say): void {
  const { requests } = seen.run;
  const [low = 0, high = low] = want.count === undefined ? [0, Infinity] : [want.count].flat();
  if (requests.length < low || requests.length > high) {
    const range = low === high ? low : `${low} to ${high}`;
    say("upstream-count", `${requests.length} upstream requests, expected ${range}`);
  }
  for (const [i, request] of requests.entries()) {
    const last = i === requests.length - 1 ? want.last : undefined;
    const streaming = want.noNonStream ? { stream: true } : undefined;
    for (const wanted of [want.each, want.requests?.[i], last, streaming]) {
      if (wanted) checkRequest(wanted, request, i + 1, seen.sent, say);
    }
    const all = `${request.head}\n${request.body.toString("latin1")}`;
    for (const text of want.absentText ?? []) {
      if (text && all.includes(text)) say("upstream-leak", `request ${i + 1} contains ${show(text)}`);
    }
  }
}

function checkRequest(want: WantedRequest, request: SeenRequest, n: number, sent: Buffer, say: Say): void {
  const stream = at(request.json, "stream");
  if (want.stream !== undefined && (stream === true) !== want.stream) {
    say("upstream-stream", `request ${n}: stream is ${show(stream)}`);
  }
  for (const [path, wanted] of Object.entries(want.has ?? {})) {
    const got = valueAt(request.json, path);
    if (!matches(wanted, got)) say("upstream-body", `request ${n}: ${path} is ${show(got)}, expected ${show(wanted)}`);
  }
  for (const path of want.lacks ?? []) {
    if (valueAt(request.json, path) !== undefined) say("upstream-body", `request ${n}: ${path} must not be there`);
  }
  for (const [name, wanted] of Object.entries(want.headers ?? {})) {
    const got = request.headers[name];
    if (wanted === null ? got !== undefined : !matches(wanted, got)) {
      say("upstream-headers", `request ${n}: ${name} is ${show(got)}, expected ${show(wanted)}`);
    }
  }
  if (want.path !== undefined && !matches(want.path, request.path)) {
    say("upstream-path", `request ${n}: ${request.path}`);
  }
  const body = request.body.toString("latin1");
  if (want.raw !== undefined && !matches(want.raw, body)) say("upstream-raw", `request ${n}: body is ${show(body)}`);
  if (want.sameBody && !request.body.equals(sent)) {
    say("upstream-raw", `request ${n}: the body is not what the client sent`);
  }
}
