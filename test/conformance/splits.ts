// `npm run test:splits`: the replay with every body cut on the wire, at every byte where it is short. Takes some minutes.
import { argv } from "node:process";

argv.push("--splits");
await import("./replay.ts");
