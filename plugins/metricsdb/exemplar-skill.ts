import { askedWindow, type AskingOf, foreignJson, windowAsked } from 'svc/query';
import { type Clock, timestamp, type ToolSkill, toolSkill } from 'svc/sdk';
import { Type } from 'typebox';

import type { Driver } from './drivers/driver.ts';
import { errors } from './errors.ts';

/** Names under which clients put the id of a trace. */
const traceLabels = ['trace_id', 'traceID', 'traceId', 'TraceID', 'trace.id'];
const { parsed, record, list, text, number } = foreignJson((what) =>
  errors.odd_exemplars({ what }),
);

/** Max size of an answer that is read. */
const maxBytes = 4 * 1024 * 1024;

const Params = Type.Object({
  query: Type.String({
    minLength: 1,
    maxLength: 4_000,
    description:
      'PromQL: the series that it selects, such as http_request_duration_seconds_bucket{route="/pay"}.',
  }),
  last: Type.Optional(Type.Unsafe<string>(askedWindow.last)),
  until: Type.Optional(Type.Unsafe<string>(askedWindow.until)),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
});

interface Found {
  readonly trace_id: string | null;
  readonly value: number;
  readonly at: string;
  readonly series: Readonly<Record<string, string>>;
  /** Labels that the client recorded besides the id of the trace. */
  readonly labels: Readonly<Record<string, string>>;
}

/** The way from a metric to the traces behind it: samples that clients recorded with the id of a trace. */
export const exemplarSkill = (
  driver: () => Pick<Driver, 'ask'>,
  asking: AskingOf,
  clock: Clock,
): ToolSkill =>
  toolSkill({
    key: 'metrics_exemplars',
    name: 'Traces behind a metric',
    description:
      'Exemplars of the series that a PromQL query selects: single measurements with the id of their trace, highest value first. Open a trace with trace_get.',
    scope: 'manager',
    class: 'safe',
    tier: 'core',
    devices: 'narrowed',
    params: Params,
    async run({ query, limit, ...asked }, { principal, signal }) {
      const { start, end } = windowAsked(asked, clock.now());
      const body = await driver().ask(
        {
          endpoint: 'query_exemplars',
          pairs: [
            ['query', query],
            ['start', `${start / 1_000}`],
            ['end', `${end / 1_000}`],
          ],
          ...(await asking(principal)),
        },
        signal,
      );
      if (body.length > maxBytes) {
        throw errors.exemplars_large({ maxBytes });
      }
      const found = exemplarsIn(body).toSorted(
        (a, b) => b.value - a.value || (a.at < b.at ? 1 : -1),
      );
      return {
        from: timestamp(start),
        to: timestamp(end),
        total: found.length,
        exemplars: found.slice(0, limit),
      };
    },
  });

/** Reads an answer in the shape of Prometheus, which another server may have given. */
function exemplarsIn(body: Uint8Array): readonly Found[] {
  const { data = [] } = parsed(body);
  return list(data, 'data').flatMap((entry) => {
    const { seriesLabels, exemplars = [] } = record(entry, 'a series');
    const series = textsOf(seriesLabels, 'the labels of a series');
    return list(exemplars, 'exemplars').flatMap((each) => {
      const { labels, value, timestamp: seconds } = record(each, 'an exemplar');
      const { id, rest } = traceOf(textsOf(labels ?? {}, 'the labels of an exemplar'));
      const measured = Number(text(value, 'the value of an exemplar'));
      const at = timestamp(Math.round(number(seconds, 'the time of an exemplar') * 1_000));
      // What is no number, or not finite, cannot be ranked.
      return Number.isFinite(measured)
        ? [{ trace_id: id, value: measured, at, series, labels: rest }]
        : [];
    });
  });
}

function traceOf(labels: Readonly<Record<string, string>>): {
  readonly id: string | null;
  readonly rest: Readonly<Record<string, string>>;
} {
  const name = traceLabels.find((label) => labels[label] !== undefined);
  return {
    id: name === undefined ? null : labels[name]!,
    rest: Object.fromEntries(Object.entries(labels).filter(([label]) => label !== name)),
  };
}

const textsOf = (value: unknown, what: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(record(value, what)).map(([name, one]) => [name, text(one, what)]),
  );
