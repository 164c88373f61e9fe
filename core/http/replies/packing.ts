import { promisify } from 'node:util';
import zlib from 'node:zlib';

import type { MaybePromise } from '../../sdk/index.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { reply } from './reply.ts';

/** Below this, packing saves less than it costs. */
const leastBytes = 1_024;
const packable =
  /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|javascript|x-ndjson)\b|image\/svg)/;
/** Loaded once and shown many times, so they are worth a longer search. */
const document = /^(?:text\/(?:html|css|javascript)|application\/javascript|image\/svg)/;

/** Each runs on a thread of the pool, never on the one that answers requests. */
const packers = new Map<string, (body: string | Uint8Array) => Promise<Uint8Array>>([
  ['gzip', (body) => promisify(zlib.gzip)(body, { level: 4 })],
  [
    'br',
    (body) =>
      promisify(zlib.brotliCompress)(body, {
        params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 },
      }),
  ],
]);
// From Node 22.15 on.
if ('zstdCompress' in zlib) {
  packers.set(
    'zstd',
    promisify(
      zlib.zstdCompress as (
        body: string | Uint8Array,
        done: (error: Error | null, packed: Buffer) => void,
      ) => void,
    ),
  );
}

/** Sends a complete answer, compressed if it is long enough and the client supports it. */
export function replyPacked(
  exchange: Exchange,
  status: number,
  usualType: string,
  body: string | Uint8Array | undefined,
): MaybePromise<void> {
  const { method, headers } = exchange.req;
  const accepted = headers['accept-encoding'];
  const type = exchange.header('content-type') ?? usualType;
  const fits =
    accepted !== undefined &&
    body !== undefined &&
    Buffer.byteLength(body) >= leastBytes &&
    packable.test(type);
  if (
    !fits ||
    method === 'HEAD' ||
    status === 206 ||
    exchange.header('content-encoding') !== undefined
  ) {
    return reply(exchange, status, usualType, body);
  }
  exchange.setHeader('vary', 'accept-encoding');
  const coding = chosen(
    accepted,
    document.test(type) ? ['br', 'zstd', 'gzip'] : ['zstd', 'gzip', 'br'],
  );
  if (coding === undefined) {
    return reply(exchange, status, usualType, body);
  }
  exchange.setHeader('content-encoding', coding);
  return packers.get(coding)!(body).then((packed) => reply(exchange, status, usualType, packed));
}

/** Returns the first of `ours` that the client accepts; `q=0` excludes one. */
function chosen(accepted: string, ours: readonly string[]): string | undefined {
  const taken = new Map(
    accepted
      .split(',')
      .map((entry) => [
        entry.split(';', 1)[0]!.trim().toLowerCase(),
        !/;\s*q=0(?:\.0*)?\s*$/i.test(entry),
      ]),
  );
  return ours.find(
    (coding) => packers.has(coding) && (taken.get(coding) ?? taken.get('*') ?? false),
  );
}
