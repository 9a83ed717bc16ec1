import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { gunzipSync, gzipSync } from "node:zlib";
import { exchange, type Received, type Sent } from "./exchange.ts";
import { standardRequests, type Wanted } from "./requests.ts";

const usage = `npm run capture -- --base URL --out FOLDER (--model NAME | --requests FILE | both) [options]
Records what a running server answers, in the format of test/fixtures/captures.
  --base URL       the server, without a path or with the one that stands for /v1
  --out FOLDER     where NAME.jsonl is written, and NAME.large.jsonl.gz for long answers
  --name NAME      of the file (default: host and port)
  --model NAME     asks the standard requests of this model
  --requests FILE  asks the requests of a recorded file again, of the model given or of the same
  --only A,B       only those whose names begin so; the others stay in the file as they are
  --hide TEXT      is written as HIDDEN, wherever it is in an answer (may be said several times)
The server's key is taken from the environment: CAPTURE_KEY. It is written as KEY.
`;

interface Recorded extends Wanted, Received {}

const largeBytes = 100_000;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      base: { type: "string" },
      out: { type: "string" },
      name: { type: "string" },
      model: { type: "string" },
      requests: { type: "string" },
      only: { type: "string" },
      hide: { type: "string", multiple: true, default: [] },
      help: { type: "boolean", default: false },
    },
  });
  const { base: address, out, model, requests, only, hide } = values;
  if (values.help) return console.log(usage.trimEnd());
  if (address === undefined || out === undefined || (model ?? requests) === undefined) throw new Error(usage);
  const base = new URL(address);
  const name = values.name ?? base.host.replace(/[^\w.-]/g, "-");
  const key = process.env["CAPTURE_KEY"];
  const beginnings = only?.split(",");
  const all = requests === undefined ? standardRequests(model ?? "") : ofModel(read(requests), model);
  const wanted = all.filter((one) => beginnings?.some((beginning) => one.name.startsWith(beginning)) ?? true);
  if (wanted.length === 0) throw new Error("no request has such a name");

  const files = new Map(only === undefined ? [] : stored(out, name).map((one) => [one.name, one]));
  for (const { name: title, why, request } of wanted) {
    const { method, path, body, rawBody } = request;
    const headers = key === undefined ? withoutKey(request.headers) : request.headers;
    const asked: Sent = {
      method,
      path,
      headers,
      ...(body === undefined ? {} : { body }),
      ...(rawBody === undefined ? {} : { rawBody }),
    };
    const got = await exchange(base, { ...asked, headers: keyed(headers, key) }).catch(String);
    if (typeof got === "string") {
      console.log(`--- ${title.padEnd(36)} ${got}`);
      process.exitCode = 1;
      continue;
    }
    files.set(title, hidden({ name: title, why, request: asked, ...got }, key, hide));
    const start = got.pieces.join("").slice(0, 100).replaceAll("\n", "\\n");
    console.log(`${got.status} ${title.padEnd(36)} ${String(got.pieces.length).padStart(4)} pieces  ${start}`);
    if (got.broken !== undefined) console.log(`    it broke off: ${got.broken}`);
  }
  if (files.size > 0) write(out, name, [...files.values()]);
}

/** The name that most requests have is that of the model; others are asked for because they do not exist. */
function ofModel(all: readonly Wanted[], model: string | undefined): readonly Wanted[] {
  if (model === undefined) return all;
  const counts = new Map<unknown, number>();
  for (const { request } of all) {
    const name = modelOf(request.body);
    if (typeof name === "string") counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const usual = [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
  return all.map((one) =>
    usual !== undefined && modelOf(one.request.body) === usual
      ? { ...one, request: { ...one.request, body: { ...(one.request.body as object), model } } }
      : one,
  );
}

const modelOf = (body: unknown): unknown =>
  typeof body === "object" && body !== null && "model" in body ? body.model : undefined;

function keyed(headers: Sent["headers"], key: string | undefined): Sent["headers"] {
  const entries = Object.entries(headers);
  return Object.fromEntries(entries.map(([name, value]) => [name, value === "Bearer KEY" ? `Bearer ${key}` : value]));
}

const withoutKey = (headers: Sent["headers"]): Sent["headers"] =>
  Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== "Bearer KEY"));

function hidden(exchanged: Recorded, key: string | undefined, hide: readonly string[]): Recorded {
  const { headers, pieces } = exchanged;
  const clean = (text: string): string => {
    // A short key may be part of any word.
    const known = key !== undefined && key.length >= 8 ? text.replaceAll(key, "KEY") : text;
    return hide.filter((one) => one !== "").reduce((rest, one) => rest.replaceAll(one, "HIDDEN"), known);
  };
  return {
    ...exchanged,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, clean(value)])),
    pieces: pieces.map(clean),
  };
}

function read(file: string): Recorded[] {
  const bytes = readFileSync(file);
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString().trimEnd();
  return text === "" ? [] : text.split("\n").map((line) => JSON.parse(line) as Recorded);
}

const paths = (folder: string, name: string): readonly [string, string] => [
  join(folder, `${basename(name)}.jsonl`),
  join(folder, `${basename(name)}.large.jsonl.gz`),
];

const stored = (folder: string, name: string): Recorded[] =>
  paths(folder, name).flatMap((path) => (existsSync(path) ? read(path) : []));

function write(folder: string, name: string, exchanges: readonly Recorded[]): void {
  const lines = exchanges.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map((one) => `${JSON.stringify(one)}\n`);
  const [small, large] = paths(folder, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(small, lines.filter((line) => line.length <= largeBytes).join(""));
  const long = lines.filter((line) => line.length > largeBytes).join("");
  if (long === "") rmSync(large, { force: true });
  else writeFileSync(large, gzipSync(long, { level: 9 }));
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
