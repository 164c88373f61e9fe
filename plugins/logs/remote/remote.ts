import { type Clock, messageOf, type PluginContext, type ThreadHandle } from 'svc/sdk';

import type { Enforced, PushAnswer, QueryOptions } from '../../metricsdb/contract.ts';
import type { LogDriver } from '../driver.ts';
import type { ParameterList } from '../loki/parameters.ts';
import type { RemoteSettings } from '../settings.ts';
import type { PushInput, RelayedPush, RowsInput } from '../thread-contract.ts';
import { dataOf, instantIn, linesIn, matrixIn, namesIn } from './answers.ts';
import { LokiClient } from './loki-client.ts';
import { remoteRequest } from './request.ts';

export interface RemoteParts {
  readonly fetch: PluginContext['fetch'];
  readonly settings: () => RemoteSettings;
  /** Longest time of one question. */
  readonly timeoutMs: () => number;
  /** Reads queries and pushes, as it does for the store of this process. */
  readonly thread: ThreadHandle;
  readonly clock: Clock;
}

const pushMs = 30_000;
const probeMs = 5_000;

/** Asks a Loki elsewhere: each request is built anew from what is allowed, never passed on. */
export function remoteDriver({ fetch, settings, timeoutMs, thread, clock }: RemoteParts): LogDriver {
  const client = new LokiClient(fetch, settings);

  async function ask(name: string, parameters: ParameterList, options: QueryOptions = {}, label?: string): Promise<Uint8Array> {
    const { path, search } = remoteRequest(name, label, await enforced(name, parameters, options.enforce ?? []));
    const patience = Math.min(options.timeoutMs ?? timeoutMs(), timeoutMs());
    // Only these may be long, and only these are known to take a form.
    const method = name === 'query' || name === 'query_range' || name === 'series' ? 'POST' : 'GET';
    return await client.call({ method, path, search, timeoutMs: patience, signal: options.signal });
  }

  /** What the asker may see goes into every selector before the query leaves. */
  async function enforced(name: string, parameters: ParameterList, enforce: readonly Enforced[]): Promise<ParameterList> {
    if (enforce.length === 0 || name === 'format_query') {
      return parameters;
    }
    const key = name === 'series' ? 'match[]' : 'query';
    const given = parameters.filter(([other]) => other === key);
    const asked = given.length === 0 ? [[key, ''] as const] : given;
    const rewritten = asked.map(async ([, query]) => [key, await thread.call<string>('enforced', { query, enforce })] as const);
    return [...parameters.filter(([other]) => other !== key), ...(await Promise.all(rewritten))];
  }

  async function relay(input: PushInput | RowsInput, signal?: AbortSignal): Promise<PushAnswer> {
    const { body, ...answer } = await thread.call<RelayedPush>('relay', input, { timeoutMs: pushMs, ...(signal && { signal }) });
    if (body !== undefined) {
      await client.call({ method: 'POST', path: '/loki/api/v1/push', body, timeoutMs: pushMs, signal });
    }
    return answer;
  }

  return {
    endpoint: ({ name, label, parameters, enforce = [] }, signal) => ask(name, parameters, { enforce, signal }, label),
    async lines(query, { start, end }, { limit = 100, direction = 'backward', ...options } = {}) {
      const parameters: ParameterList = [['query', query], ...windowOf(start, end), ['limit', String(limit)], ['direction', direction]];
      const sign = direction === 'backward' ? -1 : 1;
      const found = linesIn(dataOf(await ask('query_range', parameters, options)));
      return { type: 'streams', lines: found.sort((a, b) => sign * (a.at.ms - b.at.ms || a.at.ns - b.at.ns)), partial: false, warnings: [] };
    },
    instant: async (query, time, options) =>
      instantIn(
        dataOf(
          await ask(
            'query',
            [
              ['query', query],
              ['time', nanos(time)],
            ],
            options,
          ),
        ),
      ),
    async range(query, { start, end, step }, options) {
      const parameters: ParameterList = [['query', query], ...windowOf(start, end), ['step', String(step / 1_000)]];
      return { ...matrixIn(dataOf(await ask('query_range', parameters, options))), warnings: [] };
    },
    labels: async (window, options) => namesIn(await ask('labels', namesQuery(window, options?.query), options)),
    labelValues: async (label, window, options) => namesIn(await ask('values', namesQuery(window, options?.query), options, label)),
    push: (format, body, { encoding, stamp, signal }) => relay({ format, body, encoding, stamp }, signal),
    write: (rows) => relay({ rows }),
    async status() {
      const began = clock.monotonic();
      const state = { driver: 'remote', delayMs: 0 } as const;
      try {
        await client.call({ method: 'GET', path: '/loki/api/v1/labels', timeoutMs: probeMs });
        return { ...state, ok: true, delayMs: clock.monotonic() - began };
      } catch (error) {
        return { ...state, ok: false, detail: messageOf(error), delayMs: clock.monotonic() - began };
      }
    },
  };
}

const nanos = (ms: number): string => `${Math.floor(ms)}${String(Math.round((ms - Math.floor(ms)) * 1e6)).padStart(6, '0')}`;

const windowOf = (start: number, end: number): ParameterList => [
  ['start', nanos(start)],
  ['end', nanos(end)],
];

const namesQuery = ({ start, end }: { readonly start: number; readonly end: number }, query: string | undefined): ParameterList =>
  query === undefined ? windowOf(start, end) : [...windowOf(start, end), ['query', query]];
