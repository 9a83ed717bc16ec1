import { expect, it } from "vitest";
import { PROVIDERS } from "../../../src/upstream/catalog.ts";
import { upstreamsTable } from "../../house/upstreams-table.ts";

it("has a row of five cells for each provider, and says whether it is tested", () => {
  const rows = upstreamsTable().split("\n").slice(2);
  expect(rows).toHaveLength(Object.keys(PROVIDERS).length);
  for (const [i, provider] of Object.values(PROVIDERS).entries()) {
    const cells = rows[i]?.split(" | ") ?? [];
    expect(cells).toHaveLength(5);
    expect(cells[0]).toContain(`\`${provider.id}\``);
    expect(cells[1]).toBe(provider.tested ? "yes" : "no");
  }
});

it("tells what is changed", () => {
  const row = (id: string): string =>
    upstreamsTable()
      .split("\n")
      .find((line) => line.includes(`\`${id}\``)) ?? "";
  expect(row("openai")).toContain("the bound of an answer as `max_completion_tokens`");
  expect(row("ollama")).toContain("images fetched and put in");
  expect(row("ollama")).toContain("`n` up to 8 by parallel requests");
  expect(row("vllm")).toContain("`guided_*` as `structured_outputs`");
  expect(row("vllm")).toContain("`top_p` >0..1");
  expect(row("anthropic")).toContain("`temperature` 0..1");
  expect(row("mistral")).toContain("`seed` as `random_seed`");
});
