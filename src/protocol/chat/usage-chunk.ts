import { isObject, type JsonObject } from "../json/lossless.ts";
import type { Held } from "./choice.ts";
import type { ChunkSink } from "./conform.ts";
import type { Head } from "./head.ts";
import type { WireChunk } from "./types.ts";
import { isWholeUsage } from "./usage.ts";

/** The chunk that carries the usage, kept for the end of the stream: clients want it last, and alone. */
export interface UsageChunk {
  keep(data: string, chunk: JsonObject, legal: boolean): void;
  /** @param total the usage of the whole answer; without one nothing is said */
  emit(total: JsonObject | undefined, sink: ChunkSink): void;
}

export function createUsageChunk(head: Head): UsageChunk {
  let kept: Held | undefined;
  return {
    keep(data, chunk, legal): void {
      const { choices, usage } = chunk;
      const isAlone = Array.isArray(choices) && choices.length === 0;
      const clean = legal && isAlone && head.stands(chunk) && isObject(usage) && isWholeUsage(usage);
      kept = { chunk, data: clean ? data : undefined };
    },
    emit(total, sink): void {
      if (total === undefined) return;
      if (kept?.data !== undefined && kept.chunk["usage"] === total) sink.unchanged(kept.data, kept.chunk as WireChunk);
      else sink.changed({ ...head.rewrite(kept?.chunk ?? {}, []), usage: total });
    },
  };
}
