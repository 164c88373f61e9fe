import {
  type ApiClient,
  type Command,
  clientOptions,
  openClient,
  printable,
  table,
  spanOf,
} from 'svc/cli';
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
    const most = call.has('all') ? Infinity : maxSeries;
    const names = await namesOf(client, answer);
    return { data: answer, text: () => drawn(answer, { end, step, most, names }) };
  },
};

type Names = ReadonlyMap<string, string>;

/** Max devices that are asked for by one request. */
const maxNamed = 200;

/** Fetches the names of the devices of an answer; series of others keep their ids. */
async function namesOf(client: ApiClient, { result }: Matrix): Promise<Names> {
  const ids = [...new Set(result.flatMap(({ metric }) => metric['device_id'] ?? []))].filter((id) =>
    /^[1-9]\d{0,14}$/.test(id),
  );
  const names = new Map<string, string>();
  for (let from = 0; from < ids.length; from += maxNamed) {
    const query = ids.slice(from, from + maxNamed).map((id) => `id=${id}`);
    const { items } = await client.get<{
      readonly items: readonly { readonly id: number; readonly display_name: string }[];
    }>(`/api/v1/devices?limit=${maxNamed}&${query.join('&')}`);
    items.forEach(({ id, display_name: name }) => names.set(String(id), name));
  }
  return names;
}

function drawn(
  { result }: Matrix,
  {
    end,
    step,
    most,
    names,
  }: {
    readonly end: number;
    readonly step: number;
    readonly most: number;
    readonly names: Names;
  },
): string {
  const rows = result
    .map(({ metric, values }) => {
      const at = new Map(
        values.map(([time, value]) => [Math.round((time - end) / step), Number(value)]),
      );
      const past = Array.from({ length: points }, (_, index) => at.get(index - points + 1));
      return {
        name: nameOf(named(metric, names)),
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

/** Labels with the name of the device in place of its id, unless they have another `device`. */
function named(
  metric: Readonly<Record<string, string>>,
  names: Names,
): Readonly<Record<string, string>> {
  const { device_id: id = '', ...rest } = metric;
  const name = names.get(id);
  return name === undefined || 'device' in rest ? metric : { ...rest, device: name };
}

function nameOf({ __name__: name = '', ...labels }: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return pairs.length === 0 ? name || '{}' : `${name}{${pairs.join(', ')}}`;
}
