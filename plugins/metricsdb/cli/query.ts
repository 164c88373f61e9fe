import { type Command, clientOptions, openClient, printable, table, spanOf } from 'svc/cli';
import { shortNumber, sparkline } from './sparkline.ts';

interface Matrix {
  readonly result: readonly {
    readonly metric: Readonly<Record<string, string>>;
    readonly values: readonly (readonly [number, string])[];
  }[];
}

/** Characters of the line that is drawn. */
const points = 40;
const maxSeries = 50;

export const command: Command = {
  operands: ['<promql>'],
  options: {
    last: { value: 'time', about: 'time range of the chart, such as 15m or 7d; default: 1h' },
    all: { about: `show all series; default: the ${maxSeries} largest` },
    ...clientOptions,
  },
  about:
    'Prints one line per series: labels, current value and history. With --json, prints the matrix.',
  example: "svc query 'sum by (instance) (rate(node_cpu_seconds_total[5m]))' --last 6h",

  async run(call, shell) {
    const lastMs = spanOf('last', call.value('last') ?? '1h');
    const end = Math.floor(Date.now() / 1_000);
    const step = Math.max(1, Math.round(lastMs / 1_000 / points));
    const client = await openClient(call, shell);
    const answer = await client.post<Matrix>('/api/v1/metricsdb/query_range', {
      query: call.operand(0),
      start: end - step * (points - 1),
      end,
      step,
    });
    return {
      data: answer,
      text: () => drawn(answer, { end, step, most: call.has('all') ? Infinity : maxSeries }),
    };
  },
};

function drawn(
  { result }: Matrix,
  { end, step, most }: { readonly end: number; readonly step: number; readonly most: number },
): string {
  const rows = result
    .map(({ metric, values }) => {
      const at = new Map(
        values.map(([time, value]) => [Math.round((time - end) / step), Number(value)]),
      );
      const past = Array.from({ length: points }, (_, index) => at.get(index - points + 1));
      return {
        name: nameOf(metric),
        now: past.at(-1),
        last: past.findLast((value) => value !== undefined),
        past,
      };
    })
    .toSorted((a, b) => (b.last ?? 0) - (a.last ?? 0));
  if (rows.length === 0) {
    return 'No matching series in this time';
  }
  const lines = rows
    .slice(0, most)
    .map(({ name, now, past }) => [
      printable(name),
      now === undefined ? 'gone' : shortNumber(now),
      sparkline(past),
    ]);
  const more = rows.length > most ? `\n… and ${rows.length - most} more; --all shows them` : '';
  return `${table([['SERIES', 'NOW', 'PAST'], ...lines])}${more}`;
}

function nameOf({ __name__: name = '', ...labels }: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return pairs.length === 0 ? name || '{}' : `${name}{${pairs.join(', ')}}`;
}
