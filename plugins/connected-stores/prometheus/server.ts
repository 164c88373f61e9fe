import type { ConnectionAddress } from 'svc/connection';
import { type OutboundReply, type OutboundRequest, parseForeignJson } from 'svc/sdk';

import { errors } from './errors.ts';

export type Labels = Readonly<Record<string, string>>;

/** Current value of one series. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

export interface Asking {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

const maxBytes = 32 * 1024 * 1024;
/** Commas, colons and brackets of an answer that is parsed while others wait: callers ask for less at a time. */
const maxMarks = 2_000_000;

/** Server with the Prometheus API, as far as it is read. */
export class PrometheusServer {
  readonly #fetch: (url: string, request: OutboundRequest) => Promise<OutboundReply>;
  readonly #address: ConnectionAddress;

  constructor(
    fetch: (url: string, request: OutboundRequest) => Promise<OutboundReply>,
    address: ConnectionAddress,
  ) {
    this.#fetch = fetch;
    this.#address = address;
  }

  get host(): string {
    return new URL(this.#address.url).host;
  }

  /** The series of an expression as they are now, by the clock of the server. */
  async now(query: string, { timeoutMs, signal }: Asking): Promise<readonly Sample[]> {
    const { url, headers, tls, reach } = this.#address;
    const reply = await this.#fetch(`${url}/api/v1/query`, {
      method: 'POST',
      body: new URLSearchParams({ query, timeout: `${timeoutMs}ms` }).toString(),
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      timeoutMs,
      maxBytes,
      ...(tls && { tls }),
      ...(reach && { reach }),
      ...(signal && { signal }),
    });
    if (reply.status !== 200) {
      throw errors.refused({ host: this.host, status: reply.status, detail: reasonIn(reply) });
    }
    return samplesIn(Buffer.from(reply.body).toString('utf8')) ?? this.#foreign();
  }

  #foreign(): never {
    throw errors.not_prometheus({ host: this.host });
  }
}

interface Vector {
  readonly status?: unknown;
  readonly data?: { readonly resultType?: unknown; readonly result?: unknown };
}

function samplesIn(text: string): readonly Sample[] | undefined {
  let answer: Vector;
  try {
    answer = parseForeignJson(text, maxMarks) as Vector;
  } catch {
    // A page of a proxy: told as no Prometheus.
    return undefined;
  }
  const { status, data } = answer;
  if (status !== 'success' || data?.resultType !== 'vector' || !Array.isArray(data.result)) {
    return undefined;
  }
  return (data.result as { metric: Labels; value?: readonly [number, string] }[]).flatMap(
    // A native histogram has none.
    ({ metric, value }) =>
      value === undefined ? [] : [{ labels: metric, value: numberOf(value[1]) }],
  );
}

const numberOf = (text: string): number =>
  text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text);

function reasonIn({ body }: OutboundReply): string {
  const text = Buffer.from(body.subarray(0, 4_096)).toString('utf8');
  const [, said] = /"error"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
  return said === undefined ? '' : `: ${said.slice(0, 300)}`;
}
