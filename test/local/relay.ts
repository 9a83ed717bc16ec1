import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { trackExchange } from "./response-end.ts";

export interface Relay {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * A TCP relay before workerd. The runtime notices a reset at once, but an orderly close (what `fetch` and most clients
 * send when they abort) only at its next write, so a client that leaves during a silence would go unseen. The edge sees
 * both; here, a close that comes while a response is still owed is passed on as a reset.
 */
export async function startRelay(target: string, options: { readonly port?: number } = {}): Promise<Relay> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const upstream = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
    const exchange = trackExchange();
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.once("close", () => open.delete(socket));
    }

    client.on("data", (bytes) => {
      exchange.request(bytes);
      if (!upstream.write(bytes)) client.pause();
    });
    upstream.on("drain", () => client.resume());
    client.on("end", () => {
      if (exchange.pending) {
        upstream.resetAndDestroy();
        client.destroy();
      } else upstream.end();
    });
    client.on("error", () => upstream.resetAndDestroy());
    client.on("close", () => {
      if (!upstream.writableEnded) upstream.resetAndDestroy();
    });

    upstream.on("data", (bytes) => {
      exchange.response(bytes);
      if (!client.write(bytes)) upstream.pause();
    });
    client.on("drain", () => upstream.resume());
    upstream.on("end", () => client.end());
    upstream.on("error", () => client.resetAndDestroy());
  });

  await new Promise<void>((settle, fail) => {
    server.once("error", fail);
    server.listen(options.port ?? 0, "127.0.0.1", settle);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop(): Promise<void> {
      const closed = new Promise((settle) => server.close(settle));
      for (const socket of open) socket.resetAndDestroy();
      await closed;
    },
  };
}
