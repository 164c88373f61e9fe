import type { ConnectionAddress } from 'svc/connection';
import { type OutboundReply, type OutboundRequest, parseForeignJson } from 'svc/sdk';

import { errors } from './errors.ts';

export type Labels = Readonly<Record<string, string>>;

/** Current value of one series. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/** Values of one series over time. */
export interface Course {
  readonly labels: Labels;
  /** Times in milliseconds. */
  readonly points: readonly (readonly [time: number, value: number])[];
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
  async now(query: string, asking: Asking): Promise<readonly Sample[]> {
    const result = await this.#ask('query', 'vector', { query }, asking);
    return (result as { metric: Labels; value?: readonly [number, string] }[]).flatMap(
      // A native histogram has none.
      ({ metric, value }) =>
        value === undefined ? [] : [{ labels: metric, value: numberOf(value[1]) }],
    );
  }

  /** The series of an expression over time; times are in milliseconds. */
  async range(
    query: string,
    window: { readonly start: number; readonly end: number; readonly step: number },
    asking: Asking,
  ): Promise<readonly Course[]> {
    const { start, end, step } = window;
    const result = await this.#ask(
      'query_range',
      'matrix',
      {
        query,
        start: String(start / 1_000),
        end: String(end / 1_000),
        step: String(step / 1_000),
      },
      asking,
    );
    return (result as { metric: Labels; values?: readonly (readonly [number, string])[] }[]).map(
      ({ metric, values = [] }) => ({
        labels: metric,
        points: values.map(([seconds, text]) => [Math.round(seconds * 1_000), numberOf(text)]),
      }),
    );
  }

  async #ask(
    endpoint: string,
    type: 'vector' | 'matrix',
    parameters: Readonly<Record<string, string>>,
    { timeoutMs, signal }: Asking,
  ): Promise<readonly unknown[]> {
    const { url, headers, tls, reach } = this.#address;
    const reply = await this.#fetch(`${url}/api/v1/${endpoint}`, {
      method: 'POST',
      body: new URLSearchParams({ ...parameters, timeout: `${timeoutMs}ms` }).toString(),
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
    return resultIn(Buffer.from(reply.body).toString('utf8'), type) ?? this.#foreign();
  }

  #foreign(): never {
    throw errors.not_prometheus({ host: this.host });
  }
}

interface Reply {
  readonly status?: unknown;
  readonly data?: { readonly resultType?: unknown; readonly result?: unknown };
}

function resultIn(text: string, type: 'vector' | 'matrix'): readonly unknown[] | undefined {
  let answer: Reply;
  try {
    answer = parseForeignJson(text, maxMarks) as Reply;
  } catch {
    // A page of a proxy: told as no Prometheus.
    return undefined;
  }
  const { status, data } = answer;
  return status === 'success' && data?.resultType === type && Array.isArray(data.result)
    ? data.result
    : undefined;
}

const numberOf = (text: string): number =>
  text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text);

function reasonIn({ body }: OutboundReply): string {
  const text = Buffer.from(body.subarray(0, 4_096)).toString('utf8');
  const [, said] = /"error"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
  return said === undefined ? '' : `: ${said.slice(0, 300)}`;
}
