import type { ConnectionAddress, ConnectionOutcome } from 'svc/connection';
import {
  type Clock,
  messageOf,
  type OutboundReply,
  type OutboundRequest,
  type ThreadHandle,
} from 'svc/sdk';

import type { Packed } from '../thread/contract.ts';

export interface WriteTestParts {
  readonly fetch: (url: string, request: OutboundRequest) => Promise<OutboundReply>;
  readonly thread: ThreadHandle;
  readonly clock: Clock;
}

type Written = Partial<Pick<ConnectionOutcome, 'ok' | 'code'>> & { readonly detail: string };

const patienceMs = 5_000;
const metric = 'svc_store_test';
/** Looks for the sample: a server need not show it at once. */
const looks = 3;

/** Headers of remote write 1.0. */
export const remoteWrite = {
  'content-type': 'application/x-protobuf',
  'content-encoding': 'snappy',
  'x-prometheus-remote-write-version': '0.1.0',
};

/** Writes one sample to a server that answers queries, and reads it: many can be asked and take nothing. */
export const writeTest =
  ({ fetch, thread, clock }: WriteTestParts) =>
  async ({ url, headers, tls }: ConnectionAddress, signal: AbortSignal): Promise<Written> => {
    const time = clock.now();
    const { bodies } = await thread.call<Packed>('pack', {
      rows: [{ labels: { __name__: metric, job: 'svc' }, time, value: 1 }],
    });
    const request = { timeoutMs: patienceMs, signal, ...(tls && { tls }) };
    try {
      const reply = await fetch(`${url}/api/v1/write`, {
        ...request,
        method: 'POST',
        headers: { ...headers, ...remoteWrite },
        body: bodies[0],
      });
      if (reply.status >= 300) {
        return {
          ok: false,
          code: 'read_only',
          detail: `reading works, but writing is refused (status ${reply.status}${said(reply)}): ${remedyOf(reply.status, textOf(reply))}`,
        };
      }
    } catch (error) {
      return {
        ok: false,
        code: 'read_only',
        detail: `reading works, but writing failed: ${messageOf(error)}`,
      };
    }
    for (let look = 0; look < looks; look++) {
      const query = new URLSearchParams({ query: metric, time: String(time / 1_000) });
      const reply = await fetch(`${url}/api/v1/query?${query.toString()}`, { ...request, headers });
      if (reply.status === 200 && textOf(reply).includes(metric)) {
        return { detail: 'a sample was written and read' };
      }
    }
    return { detail: 'a sample was written; the server does not show it yet' };
  };

/** Returns the remedy for a server that refuses samples. */
export function remedyOf(status: number, reason: string): string {
  if (/remote write receiver/i.test(reason)) {
    return 'start Prometheus with --web.enable-remote-write-receiver';
  }
  if (status === 401 || status === 403) {
    return 'its credentials may only read; allow them to write';
  }
  return status === 404 || status === 405
    ? 'it has no /api/v1/write; start Prometheus with --web.enable-remote-write-receiver, or use the address that takes remote write'
    : 'see the log of the server';
}

const textOf = ({ body }: OutboundReply): string =>
  Buffer.from(body.subarray(0, 4_096)).toString('utf8').replaceAll(/\s+/g, ' ').trim();

function said(reply: OutboundReply): string {
  const text = textOf(reply).slice(0, 200);
  return text === '' ? '' : `: ${text}`;
}
