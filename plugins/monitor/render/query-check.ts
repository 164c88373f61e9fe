import { isSvcError, messageOf } from 'svc/sdk';

import { unfit } from './answered.ts';
import { builtIn } from './choices.ts';
import type { Variable } from '../model/dashboard.ts';
import { errors } from '../model/errors.ts';
import { type Binding, insert, InsertionError } from '../variables/insertion.ts';
import type { PanelQuery } from '../model/drawing.ts';
import { type PanelBody, queriesOf, refuse, storeOf } from '../model/panel.ts';
import type { Stores } from './questions.ts';

/**
 * Refuses a panel whose query is invalid for some value of its variables. Without a store to ask,
 * the panel itself shows the error.
 */
export type QueryCheck = (panel: PanelBody, variables: readonly Variable[]) => Promise<void>;

const sample = {
  window: { from: 0, to: 3_600_000, start: 0, end: 3_600_000, step: 60_000 },
  sampleInterval: 15_000,
};

export const queryCheck =
  (stores: Stores): QueryCheck =>
  async (panel, variables) => {
    for (const query of queriesOf(panel)) {
      await checkQuery(panel, query, variables, stores);
    }
  };

async function checkQuery(
  panel: PanelBody,
  query: PanelQuery,
  variables: readonly Variable[],
  { metrics, logs, traces }: Stores,
): Promise<void> {
  const text = expanded(query.query, variables);
  try {
    const store = storeOf(panel, query);
    if (store === 'traces') {
      if (traces.available) {
        await traces.get().check(text);
      }
      return;
    }
    if (store === 'logs') {
      const wanted = panel.type === 'logs' ? 'lines' : 'numbers';
      const found = logs.available
        ? (await logs.get().check(text)).type === 'lines'
          ? 'lines'
          : 'numbers'
        : wanted;
      if (found !== wanted) {
        refuse({
          path: '/query',
          message:
            found === 'lines'
              ? `the query finds lines, and a panel of type ${panel.type} shows numbers`
              : 'the query computes numbers, and a panel of type logs shows lines',
        });
      }
      return;
    }
    const kind = metrics.available ? (await metrics.get().check(text)).type : 'vector';
    if (kind === 'matrix' || kind === 'string') {
      refuse({ path: '/query', message: unfit(kind) });
    }
  } catch (error) {
    // A store that is away for a moment must not keep users from working.
    if (isSvcError(error) && error.code !== 'invalid_argument') {
      return;
    }
    throw withPath(error);
  }
}

function expanded(query: string, variables: readonly Variable[]): string {
  try {
    return insert(
      query,
      new Map([
        ...builtIn(sample),
        ...variables.map((variable): [string, Binding] => [variable.name, sampleOf(variable)]),
      ]),
    );
  } catch (error) {
    if (error instanceof InsertionError) {
      refuse({ path: '/query', message: error.message });
    }
    throw error;
  }
}

/** Returns the longest possible choice: a query that it does not break is safe with any other. */
function sampleOf({ type, values = [], multi = false, all = false }: Variable): Binding {
  if (type === 'interval') {
    return { kind: 'plain', text: '5m' };
  }
  const one = values[0] ?? 'x';
  if (type === 'custom' || type === 'constant') {
    return { kind: 'words', values: [one] };
  }
  return multi || all ? { kind: 'texts', values: [one, one] } : { kind: 'texts', values: [one] };
}

function withPath(error: unknown): unknown {
  const message = messageOf(error);
  return isSvcError(error) && error.details === undefined
    ? errors.query_unreadable({ message }, { details: [{ path: '/query', message }] })
    : error;
}
