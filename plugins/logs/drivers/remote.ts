import type {
  LinesAnswer,
  LogQueryOptions,
  LogWindow,
  PatternOptions,
  PatternsAnswer,
} from 'svc/contracts/logs';
import type {
  Enforced,
  InstantAnswer,
  MatrixAnswer,
  Notes,
  PushAnswer,
  QueryOptions,
} from 'svc/contracts/metricsdb';
import { type RemoteClient } from 'svc/query';
import { type Clock, messageOf, type ThreadHandle } from 'svc/sdk';

import type { EndpointName } from '../loki/endpoints.ts';
import { maxLines } from '../loki/parameters.ts';
import type {
  EndpointInput,
  PushInput,
  RelayedPush,
  RowsInput,
  ParameterList,
} from '../thread/contract.ts';
import type { DriverStatus, LogDriver } from './driver.ts';
import { errors } from './errors.ts';
import { type AnswerKind, type AnswerOf, readAnswer } from './remote-answers.ts';

export interface RemoteLogsParts {
  readonly client: RemoteClient;
  /** Longest time of one query. */
  readonly timeoutMs: () => number;
  /** Reads queries and pushes, as it does for the store of this process. */
  readonly thread: ThreadHandle;
  readonly clock: Clock;
}

type NameOptions = Parameters<LogDriver['labels']>[1];

interface Ask {
  /** Label name in the path. */
  readonly label?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

const categorize = { 'x-loki-response-encoding-flags': 'categorize-labels' };
const pushMs = 30_000;
const probeMs = 5_000;
/** Larger answers are read in the thread. */
const longestHere = 64 * 1024;

/**
 * Driver for an external Loki: each request is built anew from permitted parts, never passed on.
 */
export class RemoteLogs implements LogDriver {
  readonly #client: RemoteClient;
  readonly #timeoutMs: () => number;
  readonly #thread: ThreadHandle;
  readonly #clock: Clock;

  constructor({ client, timeoutMs, thread, clock }: RemoteLogsParts) {
    this.#client = client;
    this.#timeoutMs = timeoutMs;
    this.#thread = thread;
    this.#clock = clock;
  }

  endpoint(
    { name, label, parameters, categorized = false, enforce = [] }: EndpointInput,
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    return this.#ask(
      name,
      parameters,
      { enforce, signal },
      { label, headers: categorized ? categorize : {} },
    );
  }

  async lines(
    query: string,
    { start, end }: LogWindow,
    { limit = 100, direction = 'backward', ...options }: LogQueryOptions = {},
  ): Promise<LinesAnswer> {
    const parameters: ParameterList = [
      ['query', query],
      ...windowOf(start, end),
      ['limit', String(limit)],
      ['direction', direction],
    ];
    const sign = direction === 'backward' ? -1 : 1;
    const found = await this.#read('lines', await this.#ask('query_range', parameters, options));
    return {
      type: 'streams',
      lines: found.sort((a, b) => sign * (a.at.ms - b.at.ms || a.at.ns - b.at.ns)),
      partial: false,
      warnings: [],
    };
  }

  async instant(query: string, time: number, options?: QueryOptions): Promise<InstantAnswer> {
    const parameters: ParameterList = [
      ['query', query],
      ['time', nanos(time)],
    ];
    return await this.#read('instant', await this.#ask('query', parameters, options));
  }

  async range(
    query: string,
    { start, end, step }: LogWindow & { readonly step: number },
    options?: QueryOptions,
  ): Promise<MatrixAnswer & Notes> {
    const parameters: ParameterList = [
      ['query', query],
      ...windowOf(start, end),
      ['step', String(step / 1_000)],
    ];
    return {
      ...(await this.#read('range', await this.#ask('query_range', parameters, options))),
      warnings: [],
    };
  }

  /** Finds patterns in as many lines as one answer holds, since few servers compute them. */
  async patterns(
    query: string,
    window: LogWindow,
    { step, ...options }: PatternOptions = {},
  ): Promise<PatternsAnswer> {
    const { lines } = await this.lines(query, window, { ...options, limit: maxLines });
    const patterns = await this.#thread.call<PatternsAnswer['patterns']>('templates', {
      lines,
      step,
    });
    return { patterns, lines: lines.length, partial: lines.length === maxLines, warnings: [] };
  }

  async labels(window: LogWindow, options?: NameOptions): Promise<string[]> {
    return await this.#read(
      'names',
      await this.#ask('labels', namesQuery(window, options?.query), options),
    );
  }

  async labelValues(label: string, window: LogWindow, options?: NameOptions): Promise<string[]> {
    return await this.#read(
      'names',
      await this.#ask('values', namesQuery(window, options?.query), options, { label }),
    );
  }

  push(
    ...[format, body, { encoding, stamp, signal }]: Parameters<LogDriver['push']>
  ): Promise<PushAnswer> {
    return this.#relay({ format, body, encoding, stamp }, signal);
  }

  write(...[rows]: Parameters<LogDriver['write']>): Promise<PushAnswer> {
    return this.#relay({ rows });
  }

  async status(): Promise<DriverStatus> {
    const began = this.#clock.monotonic();
    try {
      await this.#client.call({ path: '/loki/api/v1/labels', timeoutMs: probeMs });
      return { driver: 'remote', ok: true, delayMs: this.#clock.monotonic() - began };
    } catch (error) {
      return {
        driver: 'remote',
        ok: false,
        detail: messageOf(error),
        delayMs: this.#clock.monotonic() - began,
      };
    }
  }

  /** Reads an answer, a large one in the thread. */
  async #read<K extends AnswerKind>(kind: K, body: Uint8Array): Promise<AnswerOf<K>> {
    return body.length <= longestHere
      ? readAnswer(kind, body)
      : await this.#thread.call<AnswerOf<K>>('readAnswer', { kind, body });
  }

  async #ask(
    name: string,
    given: ParameterList,
    { enforce = [], timeoutMs, signal }: QueryOptions = {},
    { label, headers = {} }: Ask = {},
  ): Promise<Uint8Array> {
    const { path, parameters } = remoteRequest(
      name,
      label,
      await this.#enforced(name, given, enforce),
    );
    const patience = Math.min(timeoutMs ?? this.#timeoutMs(), this.#timeoutMs());
    // Only these may be long, and only these are known to accept a form.
    const isForm = name === 'query' || name === 'query_range' || name === 'series';
    return await this.#client.call({
      path,
      headers,
      ...(isForm ? { form: parameters } : { search: parameters }),
      timeoutMs: patience,
      signal,
    });
  }

  /** Adds the caller's restrictions to every selector before the query leaves. */
  async #enforced(
    name: string,
    parameters: ParameterList,
    enforce: readonly Enforced[],
  ): Promise<ParameterList> {
    if (enforce.length === 0 || name === 'format_query') {
      return parameters;
    }
    const key = name === 'series' ? 'match[]' : 'query';
    const given = parameters.filter(([other]) => other === key);
    const asked = given.length === 0 ? [[key, ''] as const] : given;
    const rewritten = asked.map(
      async ([, query]) =>
        [key, await this.#thread.call<string>('enforced', { query, enforce })] as const,
    );
    return [...parameters.filter(([other]) => other !== key), ...(await Promise.all(rewritten))];
  }

  async #relay(input: PushInput | RowsInput, signal?: AbortSignal): Promise<PushAnswer> {
    const { body, ...answer } = await this.#thread.call<RelayedPush>('relay', input, {
      timeoutMs: pushMs,
      ...(signal && { signal }),
    });
    if (body !== undefined) {
      await this.#client.call({
        path: '/loki/api/v1/push',
        body: { type: 'application/json', bytes: body },
        timeoutMs: pushMs,
        signal,
      });
    }
    return answer;
  }
}

const window = ['start', 'end', 'since'];

/**
 * Parameters that each endpoint forwards; nothing else of a caller's request leaves this process.
 */
const allowed: Readonly<Record<EndpointName, readonly string[]>> = {
  query: ['query', 'time', 'limit', 'direction'],
  query_range: ['query', ...window, 'limit', 'direction', 'step', 'interval'],
  labels: ['query', ...window],
  values: ['query', ...window],
  series: ['match[]', ...window],
  index_stats: ['query', ...window],
  index_volume: ['query', ...window, 'limit', 'targetLabels', 'aggregateBy'],
  index_volume_range: ['query', ...window, 'limit', 'step', 'targetLabels', 'aggregateBy'],
  patterns: ['query', ...window, 'step'],
  detected_fields: ['query', ...window, 'limit', 'field_limit', 'line_limit', 'step'],
  detected_labels: ['query', ...window],
  format_query: ['query'],
};

const longestValue = 8 * 1024;

/** Path below the base address, and the parameters. */
function remoteRequest(
  name: string,
  label: string | undefined,
  given: ParameterList,
): { readonly path: string; readonly parameters: URLSearchParams } {
  if (!Object.hasOwn(allowed, name)) {
    throw errors.no_endpoint({ name });
  }
  const names = allowed[name as EndpointName];
  const kept = given
    .map(([key, value]): [string, string] => [key === 'match' ? 'match[]' : key, value])
    .filter(([key]) => names.includes(key));
  for (const [key, value] of kept) {
    if (value.length > longestValue) {
      throw errors.parameter_length({ key, max: longestValue });
    }
  }
  const folder = name === 'detected_fields' ? 'detected_field' : 'label';
  const path =
    label === undefined
      ? name.replace(/^index_/, 'index/')
      : `${folder}/${encodeURIComponent(label)}/values`;
  return { path: `/loki/api/v1/${path}`, parameters: new URLSearchParams(kept) };
}

const nanos = (ms: number): string =>
  `${Math.floor(ms)}${String(Math.round((ms - Math.floor(ms)) * 1e6)).padStart(6, '0')}`;

const windowOf = (start: number, end: number): ParameterList => [
  ['start', nanos(start)],
  ['end', nanos(end)],
];

const namesQuery = ({ start, end }: LogWindow, query: string | undefined): ParameterList =>
  query === undefined ? windowOf(start, end) : [...windowOf(start, end), ['query', query]];
