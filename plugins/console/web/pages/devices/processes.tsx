import { useData } from '../../client/data.ts';
import { figure } from '../../text/format.ts';
import { useParam } from '../../browser/location.ts';
import { processes as text } from '../../text/english/watch/devices.ts';
import { Segments } from '../../kit/form.tsx';
import { Empty, Refused } from '../../kit/parts.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';

interface Process {
  readonly pid: number;
  readonly name: string;
  readonly cmdline: string;
  readonly user: string | null;
  readonly state: string;
  readonly cpu_percent: number | null;
  readonly rss_bytes: number | null;
  readonly started_at: string | null;
}

/** Processes running on the device at this moment, queried from its agent. */
export function Processes({ edge }: { readonly edge: number | undefined }) {
  const [sort, setSort] = useParam('sort', 'cpu');
  const { value, error, reload } = useData<{ sampled_at: string; processes: readonly Process[] }>(
    edge === undefined ? undefined : `/edges/${edge}/processes`,
    {
      query: { top: 60, sort_by: sort },
      every: 5_000,
    },
  );
  if (edge === undefined) {
    return <Empty title={text.none}>{text.noneNote}</Empty>;
  }
  return (
    <>
      <div class="filters">
        <Segments
          label={text.by}
          value={sort}
          onChange={setSort}
          options={[
            ['cpu', text.cpu],
            ['mem', text.mem],
          ]}
        />
        {value && (
          <span class="soft">
            {text.read} <Time at={value.sampled_at} as="clock" />
          </span>
        )}
      </div>
      {error && !value ? (
        <Refused error={error} retry={reload} />
      ) : (
        <Table
          label={text.title}
          rows={value?.processes}
          keyOf={({ pid }) => pid}
          columns={columns}
          empty={<Empty title={text.none} />}
        />
      )}
    </>
  );
}

const columns: readonly Column<Process>[] = [
  {
    head: text.command,
    cell: ({ name, cmdline }) => (
      <span class="cut" title={cmdline}>
        <b>{name}</b> <span class="soft mono">{cmdline}</span>
      </span>
    ),
  },
  {
    head: text.cpu,
    width: '80px',
    numeric: true,
    cell: ({ cpu_percent: cpu }) => figure(cpu, 'percent'),
  },
  {
    head: text.mem,
    width: '90px',
    numeric: true,
    cell: ({ rss_bytes: bytes }) => figure(bytes, 'bytes'),
  },
  { head: text.pid, width: '80px', numeric: true, rank: 2, cell: ({ pid }) => String(pid) },
  {
    head: text.user,
    width: '110px',
    rank: 1,
    cell: ({ user }) => <span class="soft">{user ?? '–'}</span>,
  },
  { head: text.started, width: '110px', rank: 1, cell: ({ started_at: at }) => <Time at={at} /> },
];
