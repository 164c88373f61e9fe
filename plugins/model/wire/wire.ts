import type { ModelPart, ModelRequest } from 'svc/contracts/model';
import { parseForeignJson } from 'svc/sdk';

import { BrokenStream } from './broken-stream.ts';
import type { Quirks } from './quirks.ts';
import type { SseEvent } from './sse.ts';
import type { WireNames } from './wire-names.ts';

export interface WireAsk extends Pick<
  ModelRequest,
  'messages' | 'tools' | 'maxTokens' | 'temperature'
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

/** Protocol of models: its URL, requests and events. */
export interface Wire {
  url(base: string): string;
  modelsUrl(base: string): string;
  headers(key: string): Readonly<Record<string, string>>;
  body(ask: WireAsk): object;
  parts(events: AsyncIterable<SseEvent>, ask: WireAsk): AsyncIterable<WirePart>;
}

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
