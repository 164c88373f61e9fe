import { type OutboundReply, parseForeignJson, type PluginContext, type Settings } from 'svc/sdk';

import { errors } from './errors.ts';

/** A model that makes vectors of texts, and where it answers. */
export interface EmbeddingModel {
  readonly provider: 'openai' | 'ollama';
  readonly url: string;
  readonly model: string;
  readonly key: string;
}

export const embeddingKeys = ['provider', 'url', 'model', 'key'].map(
  (name) => `knowledge.embedding_${name}`,
);

/** Returns the configured model; undefined if none: searches then use words alone. */
export function modelSet(settings: Settings): EmbeddingModel | undefined {
  const [provider, url, model, key] = embeddingKeys.map((name) => settings.get<string>(name)) as [
    EmbeddingModel['provider'],
    string,
    string,
    string,
  ];
  return url === '' || model === ''
    ? undefined
    : { provider, url: url.replace(/\/+$/, ''), model, key };
}

/** Vectors of different ones cannot be compared. */
export const nameOfModel = ({ provider, url, model }: EmbeddingModel): string =>
  `${provider} ${model} at ${url}`;

const maxText = 6_000;
const maxWidth = 8_192;
const maxBytes = 32 * 1024 * 1024;
/** Max numbers of an answer, which take 20 ms to parse. */
const maxNumbers = 300_000;

/** Vectors of texts, in their order; throws unless there is one for each, all of the same width. */
export async function vectorsOf(
  fetch: PluginContext['fetch'],
  { provider, url, model, key }: EmbeddingModel,
  texts: readonly string[],
  call: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<readonly (readonly number[])[]> {
  const input = texts.map((text) => text.slice(0, maxText));
  const reply = await fetch(provider === 'ollama' ? `${url}/api/embed` : `${url}/embeddings`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key !== '' && { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({
      model,
      input,
      ...(provider === 'openai' && { encoding_format: 'float' }),
    }),
    timeoutMs: call.timeoutMs,
    maxBytes,
    ...(call.signal && { signal: call.signal }),
  });
  const vectors = readReply(reply, provider, model);
  const width = vectors[0]?.length ?? 0;
  const isWhole = vectors.length === texts.length && width > 0 && width <= maxWidth;
  if (
    !isWhole ||
    !vectors.every(
      (vector) => vector.length === width && vector.every((value) => Number.isFinite(value)),
    )
  ) {
    throw errors.embedding_answer({ model, count: vectors.length, textsCount: texts.length });
  }
  return vectors;
}

function readReply(
  { status, body }: OutboundReply,
  provider: EmbeddingModel['provider'],
  model: string,
): readonly (readonly number[])[] {
  if (status !== 200) {
    throw errors.embedding_status({ model, status });
  }
  let answer: { readonly data?: unknown; readonly embeddings?: unknown };
  try {
    answer = parseForeignJson(Buffer.from(body).toString('utf8'), maxNumbers) as typeof answer;
  } catch (cause) {
    throw errors.embedding_not_json({ model }, { cause });
  }
  const rows = provider === 'ollama' ? answer.embeddings : ordered(answer.data);
  return Array.isArray(rows) && rows.every(Array.isArray) ? (rows as number[][]) : [];
}

/** Sorts vectors: a provider may answer in any order, with an index on each. */
function ordered(data: unknown): unknown {
  return Array.isArray(data)
    ? (data as readonly { readonly index?: number; readonly embedding?: unknown }[])
        .toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0))
        .map(({ embedding }) => embedding)
    : undefined;
}
