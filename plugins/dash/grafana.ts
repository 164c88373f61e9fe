import {
  type ConnectionAddress,
  type ConnectionParts,
  failureOf,
  hostOf,
  isBefore,
  type Product,
} from 'svc/connection';
import { parseForeignJson } from 'svc/sdk';

import { errors } from './errors.ts';

const oldest = '9.0';

/**
 * Probe of Grafana: its health, which is public, then its organization, which shows whether the
 * credentials are valid.
 */
export const grafanaProduct: Product = {
  name: 'Grafana',
  oldest,
  questions: [
    {
      path: '/api/health',
      read: (_, json) =>
        json !== undefined && 'database' in json && typeof json['version'] === 'string'
          ? { version: json['version'], isTooOld: isBefore(json['version'], oldest) }
          : undefined,
    },
    { path: '/api/org', read: (_, json) => (typeof json?.['name'] === 'string' ? {} : undefined) },
  ],
};

export interface GrafanaAnswer {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
  /** Items, if the answer was an array. */
  readonly list: readonly Readonly<Record<string, unknown>>[];
}

const mostBytes = 16 * 1024 * 1024;
const callMs = 15_000;

/** Error for an object that Grafana refused; the pass continues. */
export class Refused extends Error {}

/** Calls the API of one Grafana. */
export class Grafana {
  readonly #parts: ConnectionParts;
  readonly #address: ConnectionAddress;
  readonly #signal: AbortSignal;

  constructor(parts: ConnectionParts, address: ConnectionAddress, signal: AbortSignal) {
    this.#parts = parts;
    this.#address = address;
    this.#signal = signal;
  }

  /** Calls Grafana; statuses in `expected` are answers, every other one throws. */
  async call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: object,
    expected: readonly number[] = [],
  ): Promise<GrafanaAnswer> {
    const { url, headers, tls } = this.#address;
    const reply = await this.#parts
      .fetch(`${url}${path}`, {
        method,
        headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
        body: body && JSON.stringify(body),
        timeoutMs: callMs,
        maxBytes: mostBytes,
        signal: this.#signal,
        ...(tls && { tls }),
      })
      .catch((error: unknown) => {
        throw errors.unreachable(
          { detail: failureOf(error, this.#address, grafanaProduct).detail },
          { cause: error },
        );
      });
    const text = Buffer.from(reply.body).toString('utf8');
    const value = valueIn(text);
    const json = isRecord(value) ? value : {};
    if ((reply.status >= 200 && reply.status < 300) || expected.includes(reply.status)) {
      return {
        status: reply.status,
        json,
        list: Array.isArray(value) ? value.filter(isRecord) : [],
      };
    }
    if (reply.status === 401) {
      throw errors.unauthorized({ host: hostOf(url) });
    }
    const said = typeof json['message'] === 'string' ? json['message'].slice(0, 300) : '';
    const need =
      reply.status === 403
        ? 'the token lacks permission; give its service account the role Admin'
        : `status ${reply.status}`;
    throw new Refused(
      said === '' ? `Grafana refused it: ${need}` : `Grafana rejected it: ${said} (${need})`,
    );
  }
}

/** Returns the value of an answer; undefined if it is not JSON. */
function valueIn(text: string): unknown {
  try {
    return parseForeignJson(text);
  } catch {
    return undefined;
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
