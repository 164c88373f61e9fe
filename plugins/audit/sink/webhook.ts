import { createHmac } from 'node:crypto';

import type { OutboundReply, OutboundRequest } from 'svc/sdk';

import { errors } from './errors.ts';
import { headOf, type Sink, shippedLine } from './sink.ts';

export interface HttpParts {
  readonly url: URL;
  readonly secret: string;
  /** CA certificate as PEM; empty: those that this machine trusts. */
  readonly ca: string;
  readonly now: () => number;
  readonly fetch: (url: string, request: OutboundRequest) => Promise<OutboundReply>;
}

export const withinMs = 30_000;

/** A program that takes batches as lines of JSON; any status below 300 acknowledges one. */
export function webhookSink({ url, secret, ca, now, fetch }: HttpParts): Sink {
  return {
    // Its path may be a secret.
    place: url.origin,
    lingerMs: 0,
    async send(batch, signal) {
      const body = batch.map((row) => `${shippedLine(row)}\n`).join('');
      const { status } = await fetch(url.href, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-ndjson',
          'idempotency-key': `audit-${batch[0].seq}-${headOf(batch)}`,
          'x-svc-audit-head': headOf(batch),
          ...(secret !== '' && {
            'x-svc-signature': signatureOf(secret, Math.floor(now() / 1_000), body),
          }),
        },
        body,
        timeoutMs: withinMs,
        signal,
        ...(ca !== '' && { tls: { ca } }),
      });
      if (status < 200 || status > 299) {
        throw errors.sink_refused({ status });
      }
    },
  };
}

/** Signs the time and the body, as webhook channels of notifications do. */
const signatureOf = (secret: string, unixSeconds: number, body: string): string =>
  `t=${unixSeconds},v1=${createHmac('sha256', secret).update(`${unixSeconds}.${body}`).digest('hex')}`;
