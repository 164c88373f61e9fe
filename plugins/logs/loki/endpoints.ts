import {
  type DeviceNameTable,
  idLabel,
  labelsRecord,
  type Matcher,
  nameLabel,
  type QueryCall,
} from 'svc/query';

import { instant, layOut, lines, parse, range, tailer, typeOf } from '../logql/index.ts';
import { findTemplates } from '../patterns/find-templates.ts';
import type { NanosWindow } from '../store/blocks/directory.ts';
import type { LogStore } from '../store/store.ts';
import type { ParameterList } from '../thread/contract.ts';
import type { LogQueryRunner } from '../thread/query-runner.ts';
import {
  instantAnswer,
  linesAnswer,
  listAnswer,
  plainAnswer,
  rangeAnswer,
  told,
} from './answer.ts';
import { DetectedFields } from './detected-fields.ts';
import { errors } from './errors.ts';
import { Parameters } from './parameters.ts';
import { Volumes } from './volumes.ts';

export interface EndpointCall extends QueryCall {
  readonly parameters: ParameterList;
  /** Restrictions on what the caller may see. */
  readonly enforce: readonly Matcher[];
  /** The label in the path, where the endpoint has one. */
  readonly label?: string | undefined;
  /** True to separate the labels of a line by origin. */
  readonly categorized?: boolean | undefined;
}

export interface EndpointParts {
  readonly store: LogStore;
  readonly queries: LogQueryRunner;
  readonly now: () => number;
  readonly names: DeviceNameTable;
}

const sixHoursMs = 6 * 3_600_000;
const leastPatternStepMs = 10_000;

type Endpoint = (
  parts: EndpointParts,
  call: EndpointCall,
  parameters: Parameters,
) => Uint8Array | Promise<Uint8Array>;

/** Endpoints under /loki/api/v1, each with a finished body. */
export const endpoints = {
  query({ queries, now }, call, parameters) {
    const { query, time } = parameters;
    return queries.run(call, async ({ source, budget, warnings, cost }) =>
      instantAnswer(
        await instant(source, { query, time, enforce: call.enforce, now }, budget),
        cost(),
        warnings,
      ),
    );
  },

  query_range({ queries, now }, call, parameters) {
    const { query, limit, direction, interval } = parameters;
    const { categorized = false } = call;
    const window = parameters.window();
    const step = parameters.step(window);
    const shared = { query, enforce: call.enforce, now };
    const isLog = typeOf(parse(query)) === 'lines';
    return queries.run(call, async ({ source, budget, warnings, cost }) =>
      isLog
        ? linesAnswer(
            await lines(
              source,
              { ...shared, ...window, limit, direction, interval, categorized },
              budget,
            ),
            cost(),
            warnings,
            categorized,
          )
        : rangeAnswer(
            await range(
              source,
              { ...shared, start: msOf(window.start), end: msOf(window.end), step },
              budget,
            ),
            cost(),
            warnings,
          ),
    );
  },

  labels({ store, queries, names }, call, parameters) {
    const matchers = names.foreign(matchersFor(parameters, call));
    const window = parameters.window(sixHoursMs);
    return queries.run(call, async ({ budget }) =>
      listAnswer(await store.directory.labels(matchers, window, budget), budget.warnings),
    );
  },

  values({ store, queries, names }, call, parameters) {
    const matchers = names.foreign(matchersFor(parameters, call));
    const window = parameters.window(sixHoursMs);
    const { label = '' } = call;
    return queries.run(call, async ({ budget }) => {
      const found = await store.directory.values(label, matchers, window, budget);
      const known =
        label === nameLabel
          ? names.valuesWith(found, await store.directory.values(idLabel, matchers, window, budget))
          : found;
      return listAnswer(known, budget.warnings);
    });
  },

  series({ store, queries, names }, call, parameters) {
    const given = [...parameters.all('match[]'), ...parameters.all('match')];
    const selectors =
      given.length === 0
        ? [call.enforce]
        : given.flatMap((text) => names.stored([...selectorOf(text), ...call.enforce]));
    const window = parameters.window(sixHoursMs);
    return queries.run(call, async ({ budget }) => {
      const data: Readonly<Record<string, string>>[] = [];
      for await (const labels of store.directory.series(selectors, window, budget)) {
        data.push(labelsRecord(labels));
      }
      return plainAnswer({ status: 'success', data, ...told(budget.warnings) });
    });
  },

  index_stats({ store, queries, names }, call, parameters) {
    const matchers = names.foreign(matchersFor(parameters, call));
    const window = parameters.window();
    return queries.run(call, async ({ budget }) => {
      const total = { streams: 0, chunks: 0, bytes: 0, entries: 0 };
      for await (const { chunks, bytes, lines: entries } of store.directory.sizes(
        matchers,
        window,
        budget,
      )) {
        total.streams += 1;
        total.chunks += chunks;
        total.bytes += bytes;
        total.entries += entries;
      }
      return plainAnswer({ ...total, ...told(budget.warnings) });
    });
  },

  index_volume({ store, queries, names }, call, parameters) {
    const matchers = names.foreign(matchersFor(parameters, call));
    const window = parameters.window();
    return queries.run(call, async ({ budget }) => {
      const volumes = new Volumes(selectorOf(parameters.query), parameters);
      for await (const { labels, bytes } of store.directory.sizes(matchers, window, budget)) {
        volumes.add(labels, [[msOf(window.end), bytes]]);
      }
      return volumes.vector(budget.warnings);
    });
  },

  index_volume_range({ store, queries, names }, call, parameters) {
    const matchers = names.foreign(matchersFor(parameters, call));
    const window = parameters.window();
    const step = parameters.step(window);
    parameters.assertSteps(window, step);
    return queries.run(call, async ({ budget }) => {
      const volumes = new Volumes(selectorOf(parameters.query), parameters);
      for await (const { labels, steps } of store.directory.volumes(
        matchers,
        window,
        step,
        budget,
      )) {
        volumes.add(labels, steps);
      }
      return volumes.matrix(budget.warnings);
    });
  },

  detected_fields({ queries, now }, call, parameters) {
    const { query, fieldLimit, lineLimit: limit } = parameters;
    const asked = {
      query,
      enforce: call.enforce,
      now,
      ...parameters.window(),
      limit,
      categorized: true,
    };
    return queries.run(call, async ({ source, budget, warnings }) => {
      const fields = new DetectedFields();
      fields.addAll((await lines(source, asked, budget)).lines);
      return plainAnswer(
        call.label === undefined
          ? { fields: fields.list(fieldLimit), limit: fieldLimit, ...told(warnings) }
          : { values: fields.values(call.label, fieldLimit), limit: fieldLimit, ...told(warnings) },
      );
    });
  },

  patterns({ queries, now }, call, parameters) {
    const { query } = parameters;
    const window = parameters.window();
    const step = Math.max(leastPatternStepMs, parameters.step(window));
    parameters.assertSteps(window, step);
    return queries.run(call, async ({ source, budget, warnings }) => {
      const { templates } = await findTemplates(
        source,
        { query, enforce: call.enforce, now, ...window, stepMs: step },
        budget,
      );
      const data = templates.map(({ pattern, steps }) => ({
        pattern,
        samples: [...steps].map(([at, count]) => [at / 1_000, count]).sort((a, b) => a[0]! - b[0]!),
      }));
      return plainAnswer({ status: 'success', data, ...told(warnings) });
    });
  },

  detected_labels({ store, queries, names }, call, parameters) {
    const matchers = names.foreign(matchersFor(parameters, call));
    const window = parameters.window();
    return queries.run(call, async ({ budget }) => {
      const values = new Map<string, Set<string>>();
      for await (const labels of store.directory.series([matchers], window, budget)) {
        for (let i = 0; i < labels.length; i += 2) {
          values.set(labels[i]!, (values.get(labels[i]!) ?? new Set()).add(labels[i + 1]!));
        }
      }
      const found = [...values].map(([label, { size: cardinality }]) => ({ label, cardinality }));
      found.sort((a, b) => b.cardinality - a.cardinality || (a.label < b.label ? -1 : 1));
      return plainAnswer({ detectedLabels: found, ...told(budget.warnings) });
    });
  },

  format_query(_parts, _call, parameters) {
    return plainAnswer({ status: 'success', data: layOut(parse(parameters.query)) });
  },
} satisfies Readonly<Record<string, Endpoint>>;

export type EndpointName = keyof typeof endpoints;

export function answer(
  name: EndpointName,
  parts: EndpointParts,
  call: EndpointCall,
): Uint8Array | Promise<Uint8Array> {
  if (!Object.hasOwn(endpoints, name)) {
    throw errors.no_such_endpoint({ name });
  }
  return (endpoints[name] as Endpoint)(parts, call, new Parameters(call.parameters, parts.now()));
}

/** The matchers of the query, if there is one, and what the asker may see. */
const matchersFor = (parameters: Parameters, { enforce }: EndpointCall): readonly Matcher[] =>
  parameters.query === '' ? enforce : [...selectorOf(parameters.query), ...enforce];

/**
 * Returns the matchers of a stream selector; labels do not depend on what a pipeline does to lines.
 */
const selectorOf = (query: string): readonly Matcher[] => tailer({ query, now: () => 0 }).matchers;

const msOf = ({ ms, ns }: NanosWindow['start']): number => ms + ns / 1e6;
