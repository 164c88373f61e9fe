import { useRef } from 'preact/hooks';

import { type Data, useData } from '../../client/data.ts';
import { figure } from '../../text/format.ts';
import { address } from '../../browser/location.ts';
import { overviewBusiest as text } from '../../text/english/watch/overview.ts';
import { Empty, Section } from '../../kit/parts.tsx';
import { Share } from '../../kit/share.tsx';
import { type Column, Table } from '../../kit/table.tsx';

interface Vector {
  readonly data: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly value: readonly [number, string];
    }[];
  };
}

interface Busy {
  readonly id: string;
  readonly name: string;
  readonly cpu: number | undefined;
  readonly memory: number | undefined;
  readonly disk: number | undefined;
  readonly load: number | undefined;
}

const others = 'node_memory_used_percent|node_filesystem_used_percent|node_load1';

const useAnswer = (query: string | undefined): Data<Vector> =>
  useData(query ? '//prometheus/api/v1/query' : undefined, { every: 10_000, query: { query } });

/** The eight with the most to do, by what the canonical metrics of every agent say; the rest is asked of these eight, since a fleet is large. */
function useBusiest(): {
  readonly rows: readonly Busy[] | undefined;
  readonly asked: Data<Vector>;
} {
  const asked = useAnswer('topk(8, max by (device_id, instance) (node_cpu_usage_percent))');
  // As numbers: a label comes from outside, and must not become a part of the expression.
  const ids = asked.value?.data.result.map(({ metric }) => +metric['device_id']!).join('|');
  const { value } = useAnswer(
    ids && `max by (__name__, device_id) ({__name__=~"${others}",device_id=~"${ids}"})`,
  );
  // Until the others answer for those that have come.
  const last = useRef(value);
  last.current = value ?? last.current;
  const rows = asked.value?.data.result
    .map(({ metric: { device_id: id = '', instance: name = id }, value: [, cpu] }) => {
      const [memory, disk, load] = others.split('|').map((other) => {
        const its = last.current?.data.result.find(
          ({ metric }) => metric['__name__'] === other && metric['device_id'] === id,
        );
        return its && +its.value[1];
      });
      return { id, name, cpu: +cpu, memory, disk, load };
    })
    .sort((a, b) => b.cpu - a.cpu);
  return { rows, asked };
}

/** The devices with the most to do. */
export function Busiest() {
  const { rows, asked } = useBusiest();
  return (
    <Section title={text.busiest} aside={<a href={address(['devices'])}>{text.allDevices}</a>}>
      <Table
        label={text.busiest}
        rows={rows}
        asked={asked}
        columns={busyColumns}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => address(['devices', id])}
        empty={<Empty title={text.noMetrics}>{text.noMetricsNote}</Empty>}
      />
    </Section>
  );
}

const busyColumns: readonly Column<Busy>[] = [
  { head: text.device, cell: ({ name }) => <span class="cut">{name}</span> },
  { head: text.cpu, numeric: true, width: '90px', cell: ({ cpu }) => <Share value={cpu} /> },
  {
    head: text.memory,
    numeric: true,
    width: '90px',
    cell: ({ memory }) => <Share value={memory} />,
  },
  {
    head: text.disk,
    numeric: true,
    width: '100px',
    rank: 2,
    cell: ({ disk }) => <Share value={disk} />,
  },
  { head: text.load, numeric: true, width: '70px', rank: 1, cell: ({ load }) => figure(load) },
];
