import type { UpstreamReport } from "../protocol/upstream-error.ts";

/**
 * What an upstream has against the form in which it was asked.
 * - `no_stream`: it does not stream (this combination of fields); ask for JSON
 * - `no_stream_key`: it refuses the key `stream` itself; ask for JSON without it
 * - `no_options`: it streams, but does not know `stream_options`
 * - `only_stream`: it answers streaming requests only
 */
export type StreamingRefusal = "no_stream" | "no_stream_key" | "no_options" | "only_stream";

export interface Asked {
  readonly stream: boolean;
  readonly options: boolean;
}

/**
 * Recognises a refusal of streaming by status, `param`, `code` and words. Undefined: the error is about something else. A false
 * yes asks a second time for nothing; a false no gives the client an error that it need not have seen.
 */
export function recogniseRefusal(report: UpstreamReport, asked: Asked): StreamingRefusal | undefined {
  const { status, param } = report;
  const texts = [...report.texts, report.code ?? ""]
    .map(plain)
    .filter((text) => text !== "" && !INSIDE_THE_REQUEST.test(text));
  const says = (patterns: readonly RegExp[]): boolean =>
    texts.some((text) => patterns.some((pattern) => pattern.test(text)));
  // A sentence about `stream_options` says nothing about streaming, whatever else stands in it.
  const saysBesides = (patterns: readonly RegExp[]): boolean =>
    texts.some((text) =>
      text
        .split(/[.;!?](?= |$)/)
        .some((part) => !part.includes(OPTIONS) && patterns.some((pattern) => pattern.test(part))),
    );
  if (status !== undefined && !CAN_REFUSE.has(status)) {
    const known = status === 500 && asked.stream && says(KNOWN_AS_500);
    return known ? "no_stream" : undefined;
  }
  const field = param === null ? undefined : param.replace(/^(?:body|\$|#)?[./]*/, "");
  const aboutOptions =
    (field !== undefined && /^stream_?options\b/i.test(field)) || texts.some((text) => text.includes(OPTIONS));
  if (aboutOptions && !saysBesides(NO_STREAM_STRONG)) return asked.options ? "no_options" : undefined;
  if (field !== undefined && field !== "stream" && !aboutOptions) return undefined;
  if (says(NO_KEY) || (says(STREAM_LOCATION) && says(FORBIDDEN))) return "no_stream_key";
  if (!asked.stream) return says(ONLY_STREAM) ? "only_stream" : undefined;
  return field === "stream" || status === 406 || says(NO_STREAM) ? "no_stream" : undefined;
}

/** 401, 403, 408, 409, 429 and the 5xx mean what they mean, whatever their words; an error inside a 200 may have no status. */
const CAN_REFUSE: ReadonlySet<number> = new Set([400, 402, 404, 405, 406, 410, 412, 415, 418, 422, 424, 451, 501]);

const MAX_TEXT = 4000;
/** Words about a member of the client's own data that happens to be called so. */
const INSIDE_THE_REQUEST = /schema (?:property|key|field)|property name|(?:tools|messages|functions)\[\d/;
/** Stands for `stream_options` in a plain text, so that no pattern takes it for `stream`. */
const OPTIONS = "<options>";

/** One spelling for what is said in many: lower case, no quotes, `n't` as `not`, without the input that validators quote. */
function plain(text: string): string {
  return text
    .slice(0, MAX_TEXT)
    .toLowerCase()
    .replace(/['"]input['"]:[\s\S]*?(?=\}, ?\{|$)/g, "")
    .replace(/[’]/g, "'")
    .replace(/\b(?:can't|cannot|can not)\b/g, "can not")
    .replace(/n't\b/g, " not")
    .replace(/["'`*\\]/g, "")
    .replace(/stream[_ -]?options?(?:[.[]\w+\]?)*|\binclude_usage\b/g, OPTIONS)
    .replace(/\s+/g, " ")
    .trim();
}

// The word itself, alone or with its value: not `upstream`, `livestream`, `streamGenerateContent`, `non-streaming`, `stream_x`.
// Not the stream of something else either (an audio stream, a stream format).
const S = String.raw`(?<![\w.-])(?<!(?:audio|video|image|media|data|input|event|byte|log) )stream(?:ing|ed|able)?(?![\w-]|\.\w)(?! (?:format|type|id|name|url|source|file)\b)(?: ?[=:] ?true)?`;
const GAP = String.raw`[^.;!?<]{0,60}?`;
const ABLE = String.raw`(?:support\w*|available|allowed|enabled|implemented|possible|permitted|accepted|acceptable|compatible|valid|offered|provided)`;
const NOT = String.raw`(?:not|never)(?: \w+){0,2}?`;

// The bare word, where a pattern is about the field `stream`: never the end of another word.
const pattern = (source: string): RegExp =>
  new RegExp(
    source
      .replace(/(?<!non-\? \?)stream\(\?:ing\)\?/g, "(?<![\\w.-])stream(?:ing)?")
      .replaceAll("S!", S)
      .replaceAll("GAP", GAP)
      .replaceAll("ABLE", ABLE)
      .replaceAll("NOT", NOT),
  );

const NO_STREAM_STRONG: readonly RegExp[] = [
  // streaming (completion) is not (currently) supported; stream=true not allowed yet
  String.raw`S!(?: [\w+=:,/()-]+){0,6}? NOT ABLE`,
  String.raw`S!(?: [\w+=:,/()-]+){0,6}? (?:is |are |was )?(?:unsupported|unavailable|disabled|disallowed|forbidden|prohibited|turned off|switched off)`,
  String.raw`stream(?:ing)? does not (?:support|accept|allow) true`,
  // does not support streaming; not supported when streaming tokens; not supported with tools + stream
  String.raw`NOT (?:support\w*|allow\w*|permit\w*|accept\w*|offer\w*|available|possible|enabled|implemented|compatible)GAP (?:\{ ?)?S!`,
].map(pattern);

const NO_STREAM: readonly RegExp[] = [
  ...NO_STREAM_STRONG,
  ...[
    String.raw`unsupported(?: (?:for|in|with|when|by|the|feature|mode|option|value|operation|parameter|argument|field))*:? S!(?! key)`,
    // must be false; set stream to false; requires stream=false
    String.raw`stream(?:ing)?(?: \w+){0,2}? (?:must|should|has to|needs to|can only|may only) (?:be |equal )?(?:set to |set as )?(?:false|disabled|off|omitted|absent)`,
    String.raw`(?:set|use|with|requires?|expects?|only|specify) stream(?:ing)? ?(?:=|:|to|as|to be)? ?(?:false|off)`,
    // can not use tools with stream; can not be streamed; unable to stream
    String.raw`(?:can not|unable to|must not|may not|do not|not able to) (?:be |use |handle |do |combine |return |request |enable |set |have |produce )?GAP ?S!`,
    String.raw`stream(?:ing)? (?:can|must|should|may) not be (?:true|enabled|set|used|on)`,
    String.raw`stream(?:ing)?:? only false`,
    String.raw`stream(?:ing)?: ?(?:unsupported|invalid|not allowed|not supported)`,
    String.raw`S!(?: \w+){0,2}? not work`,
    String.raw`non-? ?stream\w* (?:endpoint|model|mode|api|deployment|server|only)`,
    String.raw`(?:\bn|best_of|logprobs|tools) must be \w+ (?:when|if|while|with|for) S!`,
    String.raw`(?:server-sent events?|\bsse)(?: \w+){0,3}? NOT ABLE`,
    String.raw`NOT supportGAP (?:server-sent events?|\bsse\b)`,
    String.raw`S!GAP can not be (?:used|combined|enabled|set|requested|mixed)`,
    String.raw`\bnot (?:be |a |an |configured for |set up for |capable of |compatible with |intended for |designed for |ready for )*S!`,
    // only when using ...: not for this request
    String.raw`only supports? S! (?:when|if|with|for|on)`,
    String.raw`S!GAP (?:(?:available|supported|allowed|enabled|possible|works?) only|only (?:be )?(?:available|supported|allowed|enabled|possible|works?))`,
    String.raw`(?:no|without|lacks?|missing) (?:support for )?S!(?: mode| support| capabilit\w+| endpoint)?`,
    String.raw`only (?:supports? |allows? |accepts? |offers? )?non-? ?stream`,
    String.raw`(?:endpoint|model|api|deployment|server|provider) is non-? ?stream`,
    String.raw`(?:disable|turn off|switch off) S!`,
    String.raw`verified to S!`,
    String.raw`invalid (?:parameter |field |value:? )?stream(?:ing)?(?: (?:value|parameter|option|mode|setting)|$|\.$)`,
    String.raw`invalid value(?: \w+)? (?:for|of|in)(?: the)?(?: parameter| field| key| property)?:? stream(?![\w<-]|\.\w)`,
    String.raw`S!GAP (?:incompatible|conflicts?|mutually exclusive)`,
    String.raw`(?:incompatible|conflicts?|mutually exclusive) withGAP S!`,
    String.raw`event-streamGAP (?:not acceptable|NOT ABLE|unsupported)`,
    // codes
    String.raw`^(?:stream(?:ing)?_(?:is_)?(?:not_(?:supported|allowed|available|enabled|implemented)|unsupported|disabled)|(?:unsupported|no)_stream(?:ing|))$`,
  ].map(pattern),
];

const NO_KEY: readonly RegExp[] = [
  String.raw`remove(?: the)? stream(?: key| parameter| field| argument| property|$|,|\.)`,
  String.raw`(?:extraneous|unknown|unrecogni[sz]ed|unexpected|unsupported|unpermitted|additional|extra|invalid|illegal)(?: request| keyword| body| input| query| top-level)* (?:key|field|parameter|param|argument|property|attribute|member|input|name)(?:s|\(s\))?(?: in object| supplied| found| provided| name)?:? ?(?:\[ ?)?(?<![\w.-])stream(?![\w<-]|\.\w)`,
  String.raw`stream(?: key| field| parameter)? is not (?:a )?(?:recogni[sz]ed|known|permitted|an? (?:valid|known|allowed) (?:key|field|parameter|argument|property))`,
  String.raw`(?<![\w.-])stream was unexpected`,
  String.raw`extra inputs? (?:are |is )?not permitted:? ?\(?stream\b`,
].map(pattern);

/** A validator names the place in one text and the fault in another. */
const STREAM_LOCATION: readonly RegExp[] = [/^(?:body\.)?stream$/];
const FORBIDDEN: readonly RegExp[] = [/extra|forbidden|not permitted|unexpected|unknown|unrecogni[sz]ed|additional/];

const ONLY_STREAM: readonly RegExp[] = [
  String.raw`only (?:be )?(?:supports?|available|works?|accepts?|allows?|served|used|usable|offered)?(?: \w+){0,3}? ?stream(?:ing|ed)?\b`,
  String.raw`(?:enable|turn on|switch on|use)(?: the)? stream(?:ing)?\b`,
  String.raw`(?:requires?|must|needs?|should|has to)(?: \w+){0,3}? stream(?:ing|ed)?(?: ?(?:=|:|to)? ?(?:be )?true)?\b`,
  String.raw`stream(?:ing)?(?: \w+){0,2}? (?:must|should|has to|needs to) be (?:set to )?(?:true|enabled|on)`,
  String.raw`stream(?:ing)? is (?:required|mandatory)`,
  String.raw`stream(?:ing)?[- ]only\b`,
  String.raw`(?:set|with|specify|requires?) stream(?:ing)? ?(?:=|:|to|as)? ?true`,
  String.raw`stream ?[=:] ?false is NOT ABLE`,
  String.raw`stream does not (?:support|accept|allow) false`,
  String.raw`non-? ?stream\w*GAP (?:NOT ABLE|unsupported|unavailable|disabled)`,
  String.raw`NOT (?:support\w*|allow\w*|accept\w*)GAP non-? ?stream`,
  String.raw`^(?:stream(?:ing)?_(?:required|only)|non_stream(?:ing)?_not_supported)$`,
].map(pattern);

/** The refusals that are known to come as 500: llama.cpp before May 2025, LocalAI. */
const KNOWN_AS_500: readonly RegExp[] = [
  String.raw`can not use tools with stream`,
  String.raw`can not handle more than \d+ \w+ when streaming`,
  String.raw`not supported with tools \+ stream`,
].map(pattern);
