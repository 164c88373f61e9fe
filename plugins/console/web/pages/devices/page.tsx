import { useMemo } from 'preact/hooks';

import { useData, useList } from '../../client/data.ts';
import { figure } from '../../text/format.ts';
import { address, useParam, usePlace } from '../../browser/location.ts';
import { useMay } from '../../client/additions.ts';
import { devices as text } from '../../text/english/watch/devices.ts';
import type { Device } from '../shapes.ts';
import { Segments } from '../../kit/form.tsx';
import { Empty, Head, Refused, Tabs } from '../../kit/parts.tsx';
import { Share } from '../../kit/share.tsx';
import { Mark, Tag } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { AddHost } from '../overview/checklist.tsx';
import { DevicePage } from './device.tsx';
import { Fleet } from './fleet.tsx';

/** `/ui/devices`, `/ui/devices/agents` for what watches them, and `/ui/devices/<id>/<part>` for one. */
export default function Devices() {
  const { parts } = usePlace();
  const may = useMay();
  const shows = parts[1] ?? 'list';
  if (shows !== 'list' && shows !== 'agents') {
    return <DevicePage key={shows} id={shows} part={parts[2] ?? 'overview'} />;
  }
  return (
    <>
      <Head title={text.title}>{may('edge:enrol') && <AddHost label={text.add} />}</Head>
      <Tabs
        active={shows}
        tabs={[
          { id: 'list', title: text.title, href: address(['devices']) },
          { id: 'agents', title: text.agents, href: address(['devices', 'agents']) },
        ]}
      />
      {shows === 'agents' ? <Fleet /> : <List />}
    </>
  );
}

interface Row extends Device {
  readonly cpu?: number;
  readonly memory?: number;
  readonly load?: number;
  /** True while its figures are loading. */
  readonly isAwaited: boolean;
}

function List() {
  const [q, setQ] = useParam('q');
  const [online, setOnline] = useParam('online');
  const [role] = useParam('role');
  const [tag] = useParam('tag');
  const list = useList<Device>('/devices', {
    query: { q, online, role, tag },
    kinds: ['devices', 'edges'],
  });
  const rows = useFigures(list.items);
  const isPlain = q === '' && online === '' && role === '' && tag === '';
  return (
    <>
      <div class="filters">
        <input
          type="search"
          aria-label={text.search}
          placeholder={text.search}
          value={q}
          onInput={(event) => setQ(event.currentTarget.value)}
        />
        <Segments
          label={text.shown}
          value={online}
          onChange={setOnline}
          options={[
            ['', text.all],
            ['true', text.online],
            ['false', text.offline],
          ]}
        />
        {[role, tag].filter(Boolean).map((one) => (
          <Tag key={one} tone="info">
            {one}
          </Tag>
        ))}
      </div>
      {list.error && !list.items ? (
        <Refused error={list.error} retry={list.reload} />
      ) : (
        <Table
          label={text.title}
          rows={rows}
          total={list.total}
          more={list.more}
          columns={columns}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => address(['devices', id])}
          empty={
            isPlain ? (
              <Empty title={text.empty}>{text.emptyNote}</Empty>
            ) : (
              <Empty title={text.none} />
            )
          }
        />
      )}
    </>
  );
}

interface Vector {
  readonly data: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly value: readonly [number, string];
    }[];
  };
}

/** Max devices of one request; a table of ten thousand cannot be compared by figures. */
const mostMeasured = 300;

/** The devices with their figures of this moment: three questions for all of them. */
function useFigures(devices: readonly Device[] | undefined): readonly Row[] | undefined {
  const ids = (devices ?? []).slice(0, mostMeasured).map(({ id }) => id);
  const of = (metric: string) => ({
    query: { query: `max by (device_id) (${metric}{device_id=~"${ids.join('|')}"})` },
    every: 10_000,
  });
  const path = ids.length === 0 ? undefined : '//prometheus/api/v1/query';
  const asked = [
    useData<Vector>(path, of('node_cpu_usage_percent')),
    useData<Vector>(path, of('node_memory_used_percent')),
    useData<Vector>(path, of('node_load1')),
  ];
  const [cpu, memory, load] = asked.map(({ value }) => value);
  const isAwaited = asked.some(({ isFirst }) => isFirst);
  return useMemo(() => {
    const byId = (answer: Vector | undefined): Map<number, number> =>
      new Map(
        answer?.data.result.map(
          ({ metric, value }) => [Number(metric['device_id']), Number(value[1])] as const,
        ),
      );
    const [cpus, memories, loads] = [byId(cpu), byId(memory), byId(load)];
    return devices?.map((device) => ({
      ...device,
      cpu: cpus.get(device.id),
      memory: memories.get(device.id),
      load: loads.get(device.id),
      isAwaited,
    }));
  }, [devices, cpu, memory, load, isAwaited]);
}

const columns: readonly Column<Row>[] = [
  {
    head: text.name,
    cell: ({ online, display_name: name }) => (
      <span class="status">
        <Mark tone={online ? 'ok' : 'warning'} label={online ? text.online : text.offline} />
        <span class="cut">{name}</span>
      </span>
    ),
  },
  {
    head: text.cpu,
    width: '84px',
    numeric: true,
    cell: ({ cpu, isAwaited }) => !isAwaited && <Share value={cpu} />,
  },
  {
    head: text.memory,
    width: '92px',
    numeric: true,
    cell: ({ memory, isAwaited }) => !isAwaited && <Share value={memory} />,
  },
  {
    head: text.load,
    width: '70px',
    numeric: true,
    rank: 1,
    cell: ({ load, isAwaited }) => !isAwaited && figure(load),
  },
  {
    head: text.address,
    width: '130px',
    rank: 1,
    cell: ({ ip_address: ip }) => <span class="soft">{ip ?? '–'}</span>,
  },
  {
    head: text.system,
    width: '150px',
    rank: 1,
    cell: ({ os, os_version: version, arch }) => (
      <span class="soft">{[os, version, arch].filter(Boolean).join(' ')}</span>
    ),
  },
  {
    head: text.roles,
    width: '16%',
    rank: 1,
    cell: ({ roles, tags }) => (
      <span class="cut soft">
        {[...roles, ...Object.entries(tags).map(([name, value]) => `${name}=${value}`)].join('  ')}
      </span>
    ),
  },
  { head: text.seen, width: '110px', rank: 2, cell: ({ last_seen_at: at }) => <Time at={at} /> },
];
