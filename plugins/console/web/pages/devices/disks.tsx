import { useData } from '../../client/data.ts';
import { hostViews as text } from '../../text/english/watch/devices.ts';
import { duration, figure } from '../../text/format.ts';
import type { Window } from '../../kit/chart/matrix.ts';
import { Awaited, Section } from '../../kit/parts.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { NotMeasured } from './not-measured.tsx';

interface Vector {
  readonly data: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly value: readonly [number, string];
    }[];
  };
}

interface Disk {
  readonly mount: string;
  /** Percent of what may be written by others than root. */
  readonly used: number | undefined;
  readonly size: number | undefined;
  readonly free: number | undefined;
  /** Seconds until it is full, if it goes on as in the window; null: its past is too short to say. */
  readonly fullIn: number | null | undefined;
}

const roundSeconds = 60;
/** A disk that was watched for less than half of this has no trend yet. */
const shortestSeconds = 3_600;
/** Beyond a year, nobody plans for the day. */
const longestSeconds = 365 * 86_400;

/** Each mounted disk at the end of the window, and when it will be full. */
export function Disks({ device, window }: { readonly device: number; readonly window: Window }) {
  const of = `device_id="${device}",fstype!~"tmpfs|ramfs|overlay"`;
  const length = Math.max(
    shortestSeconds,
    'last' in window ? window.last : Math.ceil(window.to - window.from),
  );
  const time =
    'last' in window ? Math.floor(Date.now() / 1000 / roundSeconds) * roundSeconds : window.to;
  const available = `node_filesystem_avail_bytes{${of}}`;
  const ask = (query: string) =>
    useData<Vector>('//prometheus/api/v1/query', { query: { query, time } });
  const sizes = ask(`max by (mountpoint) (node_filesystem_size_bytes{${of}})`);
  const frees = ask(`max by (mountpoint) (${available})`);
  const trends = ask(
    `max by (mountpoint) (deriv(${available}[${length}s]) and ${available} offset ${shortestSeconds / 2}s)`,
  );
  const shares = ask(`max by (mountpoint) (node_filesystem_used_percent{${of}})`);
  const [size, free, trend, share] = [sizes, frees, trends, shares].map(
    ({ value }) => value && byMount(value),
  );
  const disks =
    size &&
    [...size.keys()].map((mount): Disk => {
      const left = free?.get(mount);
      const change = trend?.get(mount);
      const until =
        left !== undefined && change !== undefined && change < 0 ? left / -change : Infinity;
      return {
        mount,
        used: share?.get(mount),
        size: size.get(mount),
        free: left,
        fullIn: change === undefined ? null : until < longestSeconds ? until : undefined,
      };
    });
  return (
    <Section title={text.disks}>
      {disks === undefined ? (
        <Awaited error={sizes.error} lines={3} />
      ) : disks.length === 0 ? (
        <NotMeasured device={device} reason={text.noDisks} plugin="hostmetrics" />
      ) : (
        <Table
          label={text.disks}
          rows={disks.toSorted((a, b) => (b.used ?? 0) - (a.used ?? 0))}
          keyOf={({ mount }) => mount}
          columns={columns}
          empty={null}
        />
      )}
    </Section>
  );
}

const byMount = ({ data }: Vector): ReadonlyMap<string, number> =>
  new Map(data.result.map(({ metric, value }) => [metric['mountpoint'] ?? '', Number(value[1])]));

const columns: readonly Column<Disk>[] = [
  { head: text.mount, cell: ({ mount }) => <span class="cut mono">{mount}</span> },
  {
    head: text.used,
    width: '80px',
    numeric: true,
    cell: ({ used }) => figure(used, 'percent'),
  },
  {
    head: text.free,
    width: '100px',
    numeric: true,
    rank: 2,
    cell: ({ free }) => figure(free, 'bytes'),
  },
  {
    head: text.size,
    width: '100px',
    numeric: true,
    rank: 1,
    cell: ({ size }) => figure(size, 'bytes'),
  },
  {
    head: text.fullIn,
    width: '120px',
    cell: ({ fullIn }) =>
      typeof fullIn === 'number' ? (
        duration(fullIn)
      ) : (
        <span class="soft">{fullIn === null ? text.noTrend : text.notFilling}</span>
      ),
  },
];
