import type { UpstreamReport } from "../protocol/upstream-error.ts";
import type { AskedForm } from "./request.ts";
import { recogniseRefusal } from "./streaming-refusal.ts";
import type { Capabilities } from "./provider.ts";

/** What an upstream has taught about one (tenant, upstream, model, combination of fields). */
export interface StreamingFacts {
  readonly noStream?: boolean;
  readonly noKey?: boolean;
  readonly noOptions?: boolean;
  readonly onlyStream?: boolean;
}

/** The forms in which one request is put to one upstream, one after the other. */
export interface StreamingPlan {
  readonly form: AskedForm;
  /** After an error: whether another form is worth asking in; if so, `form` is that one. */
  revise(report: UpstreamReport): boolean;
  /** What has been learned, if this last form was answered. */
  readonly learned: StreamingFacts | undefined;
}

const MAX_REQUESTS = 3;

export interface StreamingWishes {
  readonly clientStreams: boolean;
  readonly clientOptions: boolean;
  readonly hasTools: boolean;
  readonly preferStream: boolean;
  readonly capabilities: Capabilities;
  readonly known: StreamingFacts;
}

/** At most one change each way, at most three requests: an upstream that refuses both forms gets to say so. */
export function planStreaming({
  clientStreams,
  clientOptions,
  hasTools,
  preferStream,
  capabilities,
  known,
}: StreamingWishes): StreamingPlan {
  const cannot =
    !capabilities.streaming ||
    (hasTools && !capabilities.streaming_with_tools) ||
    known.noStream === true ||
    known.noKey === true;
  const stream = (clientStreams || preferStream || known.onlyStream === true) && !cannot;
  // Without the client's wish for usage a stream needs no options; a JSON answer wants the usage that only they bring.
  const options = !known.noOptions && capabilities.stream_options && (clientOptions || !clientStreams);
  let form: AskedForm = { stream, omitKey: known.noKey === true, options };
  let learned: StreamingFacts | undefined;
  let requests = 1;
  let turned = false;
  return {
    get form() {
      return form;
    },
    get learned() {
      return learned;
    },
    revise(report): boolean {
      if (requests >= MAX_REQUESTS) return false;
      const refusal = recogniseRefusal(report, { stream: form.stream, options: form.stream && form.options });
      switch (refusal) {
        case undefined:
          return false;
        case "no_options":
          if (!form.options) return false;
          form = { ...form, options: false };
          learned = { ...learned, noOptions: true };
          break;
        case "no_stream_key":
          if (form.omitKey || (turned && form.stream)) return false;
          form = { stream: false, omitKey: true, options: form.options };
          learned = { ...learned, noKey: true };
          turned = true;
          break;
        case "no_stream":
          if (turned) return false;
          form = { ...form, stream: false };
          learned = { ...learned, noStream: true };
          turned = true;
          break;
        case "only_stream":
          if (turned) return false;
          form = { stream: true, omitKey: false, options: form.options };
          learned = { ...learned, onlyStream: true };
          turned = true;
      }
      requests++;
      return true;
    },
  };
}
