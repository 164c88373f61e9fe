import type { Logger } from 'svc/sdk';
import { formatDuration, parseDuration } from 'svc/query';

import type { PanelQuery } from '../model/drawing.ts';
import { isOverTime, type PanelBody, queriesOf, refuse, storeOf } from '../model/panel.ts';
import { type Bindings, insert } from '../variables/insertion.ts';
import { type Answered, unfit } from './answered.ts';
import { rateInterval } from './choices.ts';
import { panelErrorOf } from './panel-error.ts';
import type { Questions } from './questions.ts';
import type { Window } from './window.ts';

export interface AskParts {
  readonly window: Window;
  readonly sampleInterval: number;
  readonly questions: Questions;
  readonly log: Logger;
}

/** Asks every query of a panel that is not hidden. */
export const ask = (
  panel: PanelBody,
  bindings: Bindings,
  parts: AskParts,
): Promise<readonly Answered[]> =>
  Promise.all(
    queriesOf(panel)
      .filter(({ hidden }) => hidden !== true)
      .map((query) => answered(panel, query, bindings, parts)),
  );

async function answered(
  panel: PanelBody,
  query: PanelQuery,
  bindings: Bindings,
  { window, sampleInterval, questions, log }: AskParts,
): Promise<Answered> {
  let expanded: string | undefined;
  try {
    const least = leastStep(query, bindings);
    const step = Math.max(window.step, least ?? 0);
    expanded = insert(
      query.query,
      least === undefined
        ? bindings
        : new Map([...bindings, ...intervals(step, Math.max(least, sampleInterval))]),
    );
    const store = storeOf(panel, query);
    const answer =
      store === 'traces'
        ? { type: store, ...(await questions.traces(expanded)) }
        : await {
            lines: () => questions.lines(expanded!),
            range: () => questions.range(expanded!, store, step),
            instant: () => questions.instant(expanded!, store),
          }[modeOf(panel, query)]();
    if (
      answer.type === 'string' ||
      (answer.type === 'matrix' && modeOf(panel, query) === 'instant')
    ) {
      refuse({ path: '/query', message: unfit(answer.type) });
    }
    return { query, expanded, answer };
  } catch (error) {
    return {
      query,
      ...(expanded !== undefined && { expanded }),
      error: panelErrorOf(error, log),
    };
  }
}

/** Shortest step that a query wants, which may be a variable; undefined without one. */
function leastStep({ min_step: wanted }: PanelQuery, bindings: Bindings): number | undefined {
  const text = wanted === undefined ? '' : insert(wanted, bindings).replace(/^>/, '').trim();
  return /^(?:\d+(?:ms|[smhdwy]))+$/.test(text) ? parseDuration(text) : undefined;
}

const intervals = (step: number, sampleInterval: number): Bindings =>
  new Map(
    Object.entries({
      __interval: formatDuration(step),
      __interval_ms: String(step),
      __rate_interval: formatDuration(rateInterval(step, sampleInterval)),
    }).map(([name, text]) => [name, { kind: 'plain', text }] as const),
  );

/** Returns whether a query is asked for lines, for values over time, or for those at the end. */
export function modeOf(
  { type, display = {} }: PanelBody,
  { at, format }: PanelQuery,
): 'lines' | 'range' | 'instant' {
  if (type === 'logs') {
    return 'lines';
  }
  if (isOverTime(type)) {
    return at ?? 'range';
  }
  // The last value is that at the end; any other figure needs all of them.
  const needsAll =
    type !== 'table' &&
    format !== 'table' &&
    (display.sparkline === true || (display.calc ?? 'last') !== 'last');
  return at ?? (needsAll ? 'range' : 'instant');
}
