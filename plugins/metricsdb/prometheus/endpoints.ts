import {
  type Budget,
  compareLabels,
  type DeviceNameTable,
  type Matcher,
  idLabel,
  nameLabel,
  queryError,
  type QueryRunner,
  sortedList,
} from 'svc/query';

import { instant, print, range, selectorsOf } from '../promql/index.ts';
import type { StoreLifecycle } from '../store/lifecycle.ts';
import type { MetricsStore } from '../store/store.ts';
import type { Asked, Endpoint, QueryLimits } from '../thread/contract.ts';
import {
  each,
  envelope,
  instantAnswer,
  type Page,
  rangeAnswer,
  toolAnswer,
  writeExemplars,
} from './answer.ts';
import { Parameters } from './parameters.ts';
import {
  demandQuery,
  demandRangeQuery,
  readInstant,
  readRange,
  readSettled,
  type Settled,
} from './question.ts';
import { enforced, labelName, matcherSets } from './series-selector.ts';

export interface AnswerParts {
  readonly store: StoreLifecycle;
  readonly runner: QueryRunner<QueryLimits>;
  readonly now: () => number;
  readonly names: DeviceNameTable;
}

type Answer = Promise<Uint8Array<ArrayBuffer>>;
type Work = (
  store: MetricsStore,
  page: Page,
  settled: Settled & { readonly enforce: readonly Matcher[] },
) => Answer;

/** Reads what was asked, at once, and gives the work that answers it. */
type Reader = (asked: Parameters, parts: AnswerParts, origin: Asked) => Work;

const readers: Readonly<Record<Endpoint, Reader>> = {
  query(asked, { now, names }) {
    const { query, time } = readInstant(asked, now());
    demandQuery(query);
    return async (store, page, settled) =>
      instantAnswer(
        page,
        await instant(store.source(), { query, time, names, ...settled }, page.budget),
      );
  },

  query_range(asked, { runner, names }, { shape }) {
    const question = readRange(asked, runner.limits);
    demandRangeQuery(question.query);
    const write = shape === 'tool' ? toolAnswer : rangeAnswer;
    return async (store, page, settled) =>
      write(page, await range(store.source(), { ...question, names, ...settled }, page.budget));
  },

  series(asked, { names: known }, { enforce }) {
    const window = asked.window();
    const selectors = asked.all('match[]');
    if (selectors.length === 0) {
      throw queryError('bad_data', 'no match[] parameter provided');
    }
    const sets = storedSets(known, matcherSets(selectors, enforced(enforce)));
    return async (store, page) => {
      const found = await sortedList(
        await store.series(sets, window, page.budget),
        compareLabels,
        page.budget,
      );
      return envelope(page, (json) => each(page, json, found, (labels) => json.pairs(labels)));
    };
  },

  labels(asked, { names: known }, { enforce }) {
    const window = asked.window();
    const sets = storedSets(known, matcherSets(asked.all('match[]'), enforced(enforce)));
    return async (store, page) => names(page, await store.labels(sets, window, page.budget));
  },

  values(asked, { names: known }, { label = '', enforce }) {
    const name = labelName(label);
    const window = asked.window();
    const sets = storedSets(known, matcherSets(asked.all('match[]'), enforced(enforce)));
    return async (store, page) => {
      const found = await store.labelValues(name, sets, window, page.budget);
      return names(
        page,
        name === nameLabel
          ? known.valuesWith(found, await store.labelValues(idLabel, sets, window, page.budget))
          : found,
      );
    };
  },

  metadata(asked) {
    const metric = asked.text('metric');
    return (store, page) => {
      const known = store.metadata(
        metric === '' ? { ...(page.limit !== undefined && { limit: page.limit }) } : { metric },
      );
      return envelope(page, (json) => {
        json.raw('{');
        known.forEach(({ metric: name, type, help, unit }, at) => {
          json
            .raw(at === 0 ? '' : ',')
            .string(name)
            .raw(':[{"type":')
            .string(type)
            .raw(',"help":')
            .string(help)
            .raw(',"unit":')
            .string(unit)
            .raw('}]');
        });
        json.raw('}');
        return false;
      });
    };
  },

  query_exemplars(asked, _parts, { enforce }) {
    const window = { mint: asked.time('start'), maxt: asked.time('end') };
    if (window.maxt < window.mint) {
      throw queryError(
        'bad_data',
        'invalid parameter "end": end timestamp must not be before start time',
      );
    }
    const selectors = selectorsOf(demandQuery(asked.text('query'))).map(({ matchers }) => [
      ...matchers,
      ...enforced(enforce),
    ]);
    return async (store, page) => {
      const found = await store.exemplars(selectors, window, page.budget);
      found.sort((a, b) => compareLabels(a.series, b.series));
      return envelope(page, (json) =>
        each(page, json, found, (series) => writeExemplars(json, series)),
      );
    };
  },

  format_query(asked) {
    const text = print(demandQuery(asked.text('query')));
    return (_store, page) => envelope(page, (json) => !json.string(text));
  },
};

/** A finished answer of the Prometheus API, or a query error. */
export async function answer(parts: AnswerParts, asked: Asked, signal: AbortSignal): Answer {
  const { store, runner } = parts;
  const parameters = Parameters.of(asked);
  const settled = { ...readSettled(parameters, runner.limits), enforce: enforced(asked.enforce) };
  const limit = parameters.limit();
  const work = readers[asked.endpoint](parameters, parts, asked);
  const page = (budget: Budget): Page => ({
    budget,
    maxBytes: runner.limits.maxAnswerBytes,
    limit,
  });
  return await store.use((open) =>
    runner.run({ signal, asker: asked.asker, timeoutMs: settled.timeoutMs }, (budget) =>
      work(open, page(budget), settled),
    ),
  );
}

/** The text of an expression in the one way it is printed; needs no store. */
export function format(asked: Asked): string {
  return print(demandQuery(Parameters.of(asked).text('query')));
}

const storedSets = (
  known: DeviceNameTable,
  sets: readonly (readonly Matcher[])[],
): (readonly Matcher[])[] => sets.flatMap((matchers) => known.stored(matchers));

const names = (page: Page, list: readonly string[]): Answer =>
  envelope(page, (json) => each(page, json, list, (name) => json.string(name)));
