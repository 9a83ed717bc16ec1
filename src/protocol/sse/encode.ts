/** An event as it leaves: one `data` line, LF, nothing else (https://html.spec.whatwg.org/multipage/server-sent-events.html). JSON text has no line end. */
export const encodeEvent = (data: string): string => `data: ${data}\n\n`;

export const DONE = "[DONE]";

/** A comment keeps proxies and clients from giving up on a quiet stream; every client skips it. */
export const KEEP_ALIVE = ": keep-alive\n\n";
