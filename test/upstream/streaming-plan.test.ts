import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readReport, type UpstreamReport } from "../../src/protocol/upstream-error.ts";
import type { AskedForm } from "../../src/upstream/request.ts";
import {
  planStreaming,
  type StreamingFacts,
  type StreamingPlan,
  type StreamingWishes,
} from "../../src/upstream/streaming-plan.ts";
import { targetOf } from "./target-of.ts";

const can = (streaming: boolean, streaming_with_tools: boolean): StreamingWishes["capabilities"] => ({
  ...targetOf().capabilities,
  streaming,
  streaming_with_tools,
});
const WISHES: StreamingWishes = {
  clientStreams: true,
  clientOptions: true,
  hasTools: false,
  preferStream: false,
  capabilities: can(true, true),
  known: {},
};
const report = (message: string, status = 400): UpstreamReport =>
  readReport(status, JSON.stringify({ error: { message } }));
const NO_STREAM = report("streaming is not supported");
const NO_KEY = report("extraneous key [stream] is not permitted");
const NO_OPTIONS = report("stream_options is not supported");
const ONLY_STREAM = report("This model only supports streaming");
const OTHER = report("temperature must be non-negative");

const written = ({ stream, omitKey, options }: AskedForm): string =>
  stream ? `stream${options ? "+options" : ""}` : omitKey ? "no key" : "whole";
/** The forms that are asked in, when the answers are these errors in turn. */
function asked(wishes: Partial<StreamingWishes>, ...reports: UpstreamReport[]): string[] {
  const plan = planStreaming({ ...WISHES, ...wishes });
  const forms = [written(plan.form)];
  for (const one of reports) {
    if (!plan.revise(one)) return [...forms, "end"];
    forms.push(written(plan.form));
  }
  return forms;
}
const learnedFrom = (wishes: Partial<StreamingWishes>, ...reports: UpstreamReport[]): StreamingFacts | undefined => {
  const plan = planStreaming({ ...WISHES, ...wishes });
  for (const one of reports) plan.revise(one);
  return plan.learned;
};

describe("the first form", () => {
  it.each<[string, Partial<StreamingWishes>, string]>([
    ["a stream with options for a client that wants them", {}, "stream+options"],
    ["a stream without options for one that does not", { clientOptions: false }, "stream"],
    ["whole for a client that wants JSON", { clientStreams: false, clientOptions: false }, "whole"],
    [
      "a stream with options for one that wants JSON, if streams are preferred",
      { clientStreams: false, clientOptions: false, preferStream: true },
      "stream+options",
    ],
    ["whole for an upstream that cannot stream", { capabilities: can(false, true) }, "whole"],
    ["whole with tools for one that cannot stream those", { hasTools: true, capabilities: can(true, false) }, "whole"],
    ["a stream without tools for the same one", { capabilities: can(true, false) }, "stream+options"],
    [
      "whole, although streams are preferred, where there are none",
      { clientStreams: false, preferStream: true, capabilities: can(false, false) },
      "whole",
    ],
    ["what is known: no stream", { known: { noStream: true } }, "whole"],
    ["what is known: no key", { known: { noKey: true } }, "no key"],
    ["what is known: no key, for a client that wants JSON", { clientStreams: false, known: { noKey: true } }, "no key"],
    ["what is known: no options", { known: { noOptions: true } }, "stream"],
    [
      "what is known: only streams",
      { clientStreams: false, clientOptions: false, known: { onlyStream: true } },
      "stream+options",
    ],
    [
      "what is known: no stream, although streams are preferred",
      { clientStreams: false, preferStream: true, known: { noStream: true } },
      "whole",
    ],
  ])("is %s", (_name, wishes, form) => expect(asked(wishes)).toEqual([form]));
});

describe("further forms", () => {
  it.each<[string, Partial<StreamingWishes>, UpstreamReport[], string[]]>([
    ["an error about something else ends it", {}, [OTHER], ["stream+options", "end"]],
    ["no stream: whole", {}, [NO_STREAM, OTHER], ["stream+options", "whole", "end"]],
    ["no key: without it", {}, [NO_KEY, OTHER], ["stream+options", "no key", "end"]],
    ["no options: still a stream", {}, [NO_OPTIONS, OTHER], ["stream+options", "stream", "end"]],
    ["no options twice: an error", {}, [NO_OPTIONS, NO_OPTIONS], ["stream+options", "stream", "end"]],
    ["no options when there were none: an error", { clientOptions: false }, [NO_OPTIONS], ["stream", "end"]],
    ["no options, then no stream", {}, [NO_OPTIONS, NO_STREAM], ["stream+options", "stream", "whole"]],
    ["... and not a fourth time", {}, [NO_OPTIONS, NO_STREAM, NO_KEY], ["stream+options", "stream", "whole", "end"]],
    ["no stream, then the key itself", {}, [NO_STREAM, NO_KEY], ["stream+options", "whole", "no key"]],
    ["no stream, then only streams: once each way", {}, [NO_STREAM, ONLY_STREAM], ["stream+options", "whole", "end"]],
    [
      "only streams",
      { clientStreams: false, clientOptions: false },
      [ONLY_STREAM, OTHER],
      ["whole", "stream+options", "end"],
    ],
    [
      "only streams, then no options",
      { clientStreams: false, clientOptions: false },
      [ONLY_STREAM, NO_OPTIONS],
      ["whole", "stream+options", "stream"],
    ],
    [
      "only streams, then no stream: once each way",
      { clientStreams: false, clientOptions: false },
      [ONLY_STREAM, NO_STREAM],
      ["whole", "stream+options", "end"],
    ],
    [
      "a preferred stream that is refused",
      { clientStreams: false, clientOptions: false, preferStream: true },
      [NO_STREAM, OTHER],
      ["stream+options", "whole", "end"],
    ],
    ["a status that means something else", {}, [report("streaming is not supported", 429)], ["stream+options", "end"]],
  ])("%s", (_name, wishes, reports, forms) => expect(asked(wishes, ...reports)).toEqual(forms));

  it("known facts that have become false: an upstream known for no stream that now only streams", () => {
    expect(asked({ known: { noStream: true } }, ONLY_STREAM)).toEqual(["whole", "stream+options"]);
  });

  const anyReport = fc.constantFrom(NO_STREAM, NO_KEY, NO_OPTIONS, ONLY_STREAM, OTHER);
  const fact = fc.option(fc.constant(true), { nil: undefined });
  const anyWishes: fc.Arbitrary<StreamingWishes> = fc.record({
    clientStreams: fc.boolean(),
    clientOptions: fc.boolean(),
    hasTools: fc.boolean(),
    preferStream: fc.boolean(),
    capabilities: fc.tuple(fc.boolean(), fc.boolean()).map(([plain, tools]) => can(plain, tools)),
    known: fc
      .record({ noStream: fact, noKey: fact, noOptions: fact, onlyStream: fact })
      .map((facts) => JSON.parse(JSON.stringify(facts)) as StreamingFacts),
  });

  it("are never more than three, never the same twice, and go each way at most once", () => {
    fc.assert(
      fc.property(anyWishes, fc.array(anyReport, { maxLength: 6 }), (wishes, reports) => {
        const plan: StreamingPlan = planStreaming(wishes);
        const forms = [plan.form];
        for (const one of reports) {
          if (!plan.revise(one)) break;
          forms.push(plan.form);
        }
        expect(forms.length).toBeLessThanOrEqual(3);
        expect(new Set(forms.map(written)).size).toBe(forms.length);
        const turns = forms.slice(1).map((form, i) => (form.stream === forms[i]?.stream ? 0 : form.stream ? 1 : -1));
        expect(turns.filter((turn) => turn === 1).length).toBeLessThanOrEqual(1);
        expect(turns.filter((turn) => turn === -1).length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("what is learned", () => {
  it("is nothing without a refusal", () => {
    expect(learnedFrom({})).toBe(undefined);
    expect(learnedFrom({}, OTHER)).toBe(undefined);
  });
  it.each<[string, Partial<StreamingWishes>, UpstreamReport[], StreamingFacts]>([
    ["no stream", {}, [NO_STREAM], { noStream: true }],
    ["no key", {}, [NO_KEY], { noKey: true }],
    ["no options", {}, [NO_OPTIONS], { noOptions: true }],
    ["no options and no stream", {}, [NO_OPTIONS, NO_STREAM], { noOptions: true, noStream: true }],
    ["only streams", { clientStreams: false }, [ONLY_STREAM], { onlyStream: true }],
  ])("%s", (_name, wishes, reports, facts) => expect(learnedFrom(wishes, ...reports)).toEqual(facts));

  it("leads straight to the form that was answered, for the next request alike", () => {
    for (const reports of [[NO_STREAM], [NO_KEY], [NO_OPTIONS], [NO_OPTIONS, NO_STREAM], [NO_STREAM, NO_KEY]]) {
      const known = learnedFrom({}, ...reports) ?? {};
      expect(asked({ known })).toEqual([asked({}, ...reports).at(-1)]);
    }
    const known = learnedFrom({ clientStreams: false, clientOptions: false }, ONLY_STREAM) ?? {};
    expect(asked({ clientStreams: false, clientOptions: false, known })).toEqual(["stream+options"]);
  });
});
