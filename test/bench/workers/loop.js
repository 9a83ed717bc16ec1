// Reads and writes, nothing else: the least that any Worker pays that looks at every byte of a stream.
export default {
  async fetch(request, env, ctx) {
    const upstream = await fetch(new Request(env.UPSTREAM + new URL(request.url).pathname, request));
    const { readable, writable } = new IdentityTransformStream();
    ctx.waitUntil(pump(upstream.body, writable));
    return new Response(readable, upstream);
  },
};

async function pump(body, writable) {
  const reader = body.getReader({ mode: "byob" });
  const writer = writable.getWriter();
  try {
    let buffer = new ArrayBuffer(65536);
    for (;;) {
      const { done, value } = await reader.read(new Uint8Array(buffer));
      if (done) break;
      await writer.write(value);
      buffer = value.buffer;
    }
    await writer.close();
  } catch (reason) {
    await reader.cancel(reason);
  }
}
