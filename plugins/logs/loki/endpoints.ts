import { SvcError } from 'svc/sdk';
import { keepLabels, type Labels, labelsKey, labelsRecord, type Matcher, queryError, type QueryCall } from 'svc/query';

import type { LogQueryRunner } from '../query-runner.ts';
import { instant, lines, parse, printExpr, range, tailer, typeOf } from '../logql/index.ts';
import type { NanosWindow, StreamSize } from '../store/directory.ts';
import type { LogStore } from '../store/store.ts';
import { instantAnswer, linesAnswer, listAnswer, plainAnswer, rangeAnswer } from './answer.ts';
import { type ParameterList, Parameters } from './parameters.ts';

export interface EndpointCall extends QueryCall {
  readonly parameters: ParameterList;
  /** What the asker may see. */
  readonly enforce: readonly Matcher[];
  /** The label in the path, where the endpoint has one. */
  readonly label?: string | undefined;
}

export interface EndpointParts {
  readonly store: LogStore;
  readonly queries: LogQueryRunner;
  readonly now: () => number;
}

const sixHoursMs = 6 * 3_600_000;

type Endpoint = (parts: EndpointParts, call: EndpointCall, parameters: Parameters) => Uint8Array | Promise<Uint8Array>;

/** What answers under /loki/api/v1, each with a finished body. */
export const endpoints = {
  query({ queries, now }, call, parameters) {
    const { query, time } = parameters;
    return queries.run(call, async ({ source, budget, warnings, cost }) =>
      instantAnswer(await instant(source, { query, time, enforce: call.enforce, now }, budget), cost(), warnings),
    );
  },

  query_range({ queries, now }, call, parameters) {
    const { query, limit, direction } = parameters;
    const window = parameters.window();
    const step = parameters.step(window);
    const shared = { query, enforce: call.enforce, now };
    const isLog = typeOf(parse(query)) === 'lines';
    return queries.run(call, async ({ source, budget, warnings, cost }) =>
      isLog
        ? linesAnswer(await lines(source, { ...shared, ...window, limit, direction }, budget), cost(), warnings)
        : rangeAnswer(await range(source, { ...shared, start: msOf(window.start), end: msOf(window.end), step }, budget), cost(), warnings),
    );
  },

  labels({ store, queries }, call, parameters) {
    const matchers = matchersFor(parameters, call);
    const window = parameters.window(sixHoursMs);
    return queries.run(call, async ({ budget }) => listAnswer(await store.directory.labels(matchers, window, budget)));
  },

  values({ store, queries }, call, parameters) {
    const matchers = matchersFor(parameters, call);
    const window = parameters.window(sixHoursMs);
    return queries.run(call, async ({ budget }) => listAnswer(await store.directory.values(call.label ?? '', matchers, window, budget)));
  },

  series({ store, queries }, call, parameters) {
    const given = [...parameters.all('match[]'), ...parameters.all('match')];
    const selectors = given.length === 0 ? [call.enforce] : given.map((text) => [...selectorOf(text), ...call.enforce]);
    const window = parameters.window(sixHoursMs);
    return queries.run(call, async ({ budget }) => {
      const data: Readonly<Record<string, string>>[] = [];
      for await (const labels of store.directory.series(selectors, window, budget)) {
        data.push(labelsRecord(labels));
      }
      return plainAnswer({ status: 'success', data });
    });
  },

  index_stats({ store, queries }, call, parameters) {
    const matchers = matchersFor(parameters, call);
    const window = parameters.window();
    return queries.run(call, async ({ budget }) => {
      const total = { streams: 0, chunks: 0, bytes: 0, entries: 0 };
      for await (const { chunks, bytes, lines: entries } of store.directory.sizes(matchers, window, budget)) {
        total.streams += 1;
        total.chunks += chunks;
        total.bytes += bytes;
        total.entries += entries;
      }
      return plainAnswer(total);
    });
  },

  index_volume({ store, queries }, call, parameters) {
    const matchers = matchersFor(parameters, call);
    const window = parameters.window();
    return queries.run(call, ({ budget }) =>
      volumeAnswer(store.directory.sizes(matchers, window, budget), selectorOf(parameters.query), parameters, msOf(window.end)),
    );
  },

  detected_labels({ store, queries }, call, parameters) {
    const matchers = matchersFor(parameters, call);
    const window = parameters.window();
    return queries.run(call, async ({ budget }) => {
      const values = new Map<string, Set<string>>();
      for await (const labels of store.directory.series([matchers], window, budget)) {
        eachPair(labels, (name, value) => (values.get(name) ?? values.set(name, new Set()).get(name)!).add(value));
      }
      const found = [...values].map(([label, { size: cardinality }]) => ({ label, cardinality }));
      return plainAnswer({ detectedLabels: found.sort((a, b) => b.cardinality - a.cardinality || (a.label < b.label ? -1 : 1)) });
    });
  },

  format_query(_parts, _call, parameters) {
    return plainAnswer({ status: 'success', data: printExpr(parse(parameters.query)) });
  },
} satisfies Readonly<Record<string, Endpoint>>;

export type EndpointName = keyof typeof endpoints;

export function answer(name: EndpointName, parts: EndpointParts, call: EndpointCall): Uint8Array | Promise<Uint8Array> {
  if (!Object.hasOwn(endpoints, name)) {
    throw new SvcError('not_found', `there is no endpoint ${name}`);
  }
  return (endpoints[name] as Endpoint)(parts, call, new Parameters(call.parameters, parts.now()));
}

/** The matchers of the query, if there is one, and what the asker may see. */
const matchersFor = (parameters: Parameters, { enforce }: EndpointCall): readonly Matcher[] =>
  parameters.query === '' ? enforce : [...selectorOf(parameters.query), ...enforce];

/** Of a stream selector; what a pipeline would do to lines does not matter to labels. */
const selectorOf = (query: string): readonly Matcher[] => tailer({ query, now: () => 0 }).matchers;

const msOf = ({ ms, ns }: NanosWindow['start']): number => ms + ns / 1e6;

function eachPair(labels: Labels, each: (name: string, value: string) => void): void {
  for (let i = 0; i < labels.length; i += 2) {
    each(labels[i]!, labels[i + 1]!);
  }
}

/** Bytes per set of labels, or per label name, the largest first. */
async function volumeAnswer(sizes: AsyncIterable<StreamSize>, matchers: readonly Matcher[], parameters: Parameters, atMs: number): Promise<Uint8Array> {
  const { limit } = parameters;
  const groups = groupsOf(matchers, parameters);
  const volumes = new Map<string, { readonly labels: Labels; bytes: number }>();
  for await (const { labels, bytes } of sizes) {
    for (const group of groups(labels)) {
      const key = labelsKey(group);
      const volume = volumes.get(key) ?? { labels: group, bytes: 0 };
      volumes.set(key, volume);
      volume.bytes += bytes;
    }
  }
  const largest = [...volumes.values()].sort((a, b) => b.bytes - a.bytes).slice(0, limit);
  const result = largest.map(({ labels, bytes }) => ({ metric: labelsRecord(labels), value: [Math.round(atMs) / 1_000, String(bytes)] }));
  return plainAnswer({ status: 'success', data: { resultType: 'vector', result } });
}

/** By the labels that the selector names, unless others are asked for. */
function groupsOf(matchers: readonly Matcher[], parameters: Parameters): (labels: Labels) => readonly Labels[] {
  const targets = (parameters.text('targetLabels') ?? '').split(',').filter((name) => name !== '');
  const wanted = new Set(targets.length > 0 ? targets : matchers.map(({ name }) => name));
  switch (parameters.text('aggregateBy') ?? 'series') {
    case 'series':
      return (labels) => [keepLabels(labels, wanted)];
    case 'labels':
      return (labels) => labels.filter((name, i) => i % 2 === 0 && (targets.length === 0 || wanted.has(name))).map((name) => [name, '']);
    default:
      throw queryError('bad_data', 'invalid aggregateBy: it is series or labels');
  }
}
