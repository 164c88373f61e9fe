import { useMemo } from 'preact/hooks';

import { type Data, useData } from '../../frame/data.ts';
import { figure } from '../../frame/format.ts';
import { address } from '../../frame/location.ts';
import { words } from '../../frame/words.ts';
import { Empty, Section } from '../../kit/parts.tsx';
import { Share } from '../../kit/share.tsx';
import { type Column, Table } from '../../kit/table.tsx';

const text = words('overview-busiest', {
  busiest: 'Busiest devices',
  allDevices: 'All devices',
  device: 'Device',
  cpu: 'CPU',
  memory: 'Memory',
  disk: 'Fullest disk',
  load: 'Load',
  noMetrics: 'No metrics yet.',
  noMetricsNote: 'Its first ones come within seconds.',
});

interface Vector {
  readonly data: { readonly result: readonly { readonly metric: Readonly<Record<string, string>>; readonly value: readonly [number, string] }[] };
}

interface Busy {
  readonly id: string;
  readonly name: string;
  readonly cpu: number | undefined;
  readonly memory: number | undefined;
  readonly disk: number | undefined;
  readonly load: number | undefined;
}

const busyQuery = (metric: string): string =>
  `max by (device_id, instance) (${metric}) and on (device_id) topk(8, max by (device_id) (node_cpu_usage_percent))`;

/** The eight with the most to do, by what the canonical metrics of every agent say. */
function useBusiest(): { readonly rows: readonly Busy[] | undefined; readonly asked: Data<Vector> } {
  const options = { every: 10_000 };
  const cpu = useData<Vector>('//prometheus/api/v1/query', { ...options, query: { query: 'topk(8, max by (device_id, instance) (node_cpu_usage_percent))' } });
  const memory = useData<Vector>('//prometheus/api/v1/query', { ...options, query: { query: busyQuery('node_memory_used_percent') } });
  const disk = useData<Vector>('//prometheus/api/v1/query', { ...options, query: { query: busyQuery('node_filesystem_used_percent') } });
  const load = useData<Vector>('//prometheus/api/v1/query', { ...options, query: { query: busyQuery('node_load1') } });
  const rows = useMemo(() => {
    const of = (answer: Vector | undefined): Map<string, number> =>
      new Map(answer?.data.result.map(({ metric, value }) => [metric['device_id'] ?? '', Number(value[1])] as const));
    const [memories, disks, loads] = [of(memory.value), of(disk.value), of(load.value)];
    return cpu.value?.data.result
      .map(({ metric, value }) => {
        const id = metric['device_id'] ?? '';
        return { id, name: metric['instance'] ?? id, cpu: Number(value[1]), memory: memories.get(id), disk: disks.get(id), load: loads.get(id) };
      })
      .toSorted((a, b) => b.cpu - a.cpu);
  }, [cpu.value, memory.value, disk.value, load.value]);
  return { rows, asked: cpu };
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
  { head: text.memory, numeric: true, width: '90px', cell: ({ memory }) => <Share value={memory} /> },
  { head: text.disk, numeric: true, width: '100px', rank: 2, cell: ({ disk }) => <Share value={disk} /> },
  { head: text.load, numeric: true, width: '70px', rank: 1, cell: ({ load }) => figure(load) },
];
