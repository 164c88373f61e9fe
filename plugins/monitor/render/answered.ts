import type { LinesAnswer } from 'svc/contracts/logs';
import type { FoundTraces } from 'svc/contracts/traces';
import type { InstantAnswer, MatrixAnswer, Notes } from 'svc/contracts/metricsdb';

import type { PanelQuery } from '../model/drawing.ts';
import type { PanelError } from './panel-error.ts';

/** Traces beside the other kinds of answers. */
export type TracesAnswer = FoundTraces & { readonly type: 'traces' };

/** One query of a panel with its answer, or why it has none. */
export interface Answered {
  readonly query: PanelQuery;
  readonly expanded?: string;
  readonly answer?: (MatrixAnswer & Notes) | InstantAnswer | LinesAnswer | TracesAnswer;
  readonly error?: PanelError;
}

export const unfit = (type: 'matrix' | 'string'): string =>
  type === 'matrix'
    ? 'the query ends in a range such as [5m], which has no value of its own; put a function such as rate around it'
    : 'the query is a text, and a panel shows numbers';
