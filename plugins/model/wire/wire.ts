import type { ModelFormat, ModelPart, ModelRequest } from 'svc/contracts/model';
import { parseForeignJson } from 'svc/sdk';

import { BrokenStream } from './broken-stream.ts';
import { type Quirks, thinkingRoom } from './quirks.ts';
import type { SseEvent } from './sse.ts';
import type { WireNames } from './wire-names.ts';

export interface WireAsk extends Pick<
  ModelRequest,
  'messages' | 'tail' | 'tools' | 'mayCall' | 'maxTokens' | 'effort' | 'format' | 'temperature'
> {
  /** Model id without the provider. */
  readonly model: string;
  readonly names: WireNames;
  readonly quirks: Quirks;
}

/** `end` without what only the provider's own name completes. */
export type WirePart =
  | Exclude<ModelPart, { type: 'end' }>
  | Omit<Extract<ModelPart, { type: 'end' }>, 'model'>;

/** Protocol of models: its URL, requests and events. A key is the matter of the provider. */
export interface Wire {
  url(base: string, model: string): string;
  modelsUrl(base: string): string;
  /** Ids of the models in the answer of `modelsUrl`; undefined if it is no such list. */
  modelIds(list: Readonly<Record<string, unknown>>): readonly string[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  body(ask: WireAsk): object;
  events(pieces: AsyncIterable<Uint8Array>): AsyncIterable<SseEvent>;
  parts(events: AsyncIterable<SseEvent>, ask: WireAsk): AsyncIterable<WirePart>;
}

/** Returns the ids of a list in the form of OpenAI, which others have taken over. */
export function idsOfData({
  data,
  object,
}: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  return Array.isArray(data)
    ? (data as readonly { readonly id?: unknown }[]).map(({ id }) => String(id))
    : object === 'list'
      ? []
      : undefined;
}

/**
 * Returns the form that is asked for, if the model enforces one. Beside tools only where it is known
 * to do no harm: some servers stop calling tools, others refuse.
 */
export const formOf = ({ format, tools, mayCall, quirks }: WireAsk): ModelFormat | undefined =>
  quirks.structured !== undefined &&
  (tools.length === 0 || (mayCall === false && quirks.structuredBesideTools))
    ? format
    : undefined;

/** Throws what a provider says of itself in the middle of a stream. */
export function streamError(said: unknown): never {
  const reason = typeof said === 'string' && said !== '' ? said : 'no reason given';
  throw new BrokenStream(`the stream ended with an error: ${reason.slice(0, 300)}`);
}

/** Returns the tokens of `maxTokens` that thoughts may take, for vendors that want to know. */
export const roomOf = ({ maxTokens, quirks, effort }: WireAsk): number =>
  Math.max(0, Math.min(thinkingRoom(quirks, effort), maxTokens - leastAnswer));

/** Thoughts never take the last tokens, with which something is said. */
const leastAnswer = 1_024;

/** Signs of life for too long, and no part of an answer. */
export class Silence extends Error {
  readonly seconds: number;

  constructor(seconds: number) {
    super(`no content for ${seconds} s`);
    this.seconds = seconds;
  }
}

/** Parses an event, checking the shape that its protocol promises as far as a reader uses it. */
export function parsedEvent<T extends object>(data: string): T {
  try {
    const value = parseForeignJson(data);
    if (typeof value === 'object' && value !== null) {
      return value as T;
    }
  } catch (error) {
    throw new BrokenStream('an event of the stream is not JSON', { cause: error });
  }
  throw new BrokenStream('an event of the stream is not a JSON object');
}
