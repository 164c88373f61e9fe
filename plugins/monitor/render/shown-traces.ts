import type { FoundTrace } from 'svc/contracts/traces';

import { formatted } from '../model/units.ts';
import { wellFormed } from '../variables/query-text.ts';
import type { Shown } from './answers.ts';
import { mostTraces } from './questions.ts';

const longestName = 200;
const nanosPerMs = 1_000_000n;

/** Draws traces as a table, newest first; the last column has the ids that lead to them. */
export function shownTraces(traces: readonly FoundTrace[]): Shown {
  const sorted = traces.toSorted((a, b) => (BigInt(b.startNanos) > BigInt(a.startNanos) ? 1 : -1));
  const shown = sorted.slice(0, mostTraces);
  return {
    data: { result_type: 'vector', result: [] },
    leftOut: traces.length - shown.length,
    table: {
      columns: [
        { name: 'Started', type: 'time' },
        { name: 'Service', type: 'string' },
        { name: 'Name', type: 'string' },
        { name: 'Duration', type: 'number' },
        { name: 'Failed spans', type: 'number' },
        { name: 'Trace', type: 'string' },
      ],
      rows: shown.map(({ traceId, rootService, rootName, startNanos, durationMs, services }) => {
        const failed = Object.values(services).reduce((sum, one) => sum + one.errorCount, 0);
        return [
          { text: formatted(Number(BigInt(startNanos) / nanosPerMs), 'date') },
          { text: cut(rootService) },
          { text: cut(rootName) },
          { text: formatted(durationMs / 1_000, 'seconds'), value: durationMs },
          {
            text: String(failed),
            value: failed,
            ...(failed > 0 && { state: 'critical' as const }),
          },
          { text: traceId },
        ];
      }),
    },
  };
}

const cut = (text: string): string =>
  text.length > longestName ? `${wellFormed(text.slice(0, longestName))}…` : text;
