import { stores as text } from '../../text/english/administration/stores.ts';
import { say } from '../../text/words.ts';
import { address } from '../../browser/location.ts';
import { Empty } from '../../kit/parts.tsx';
import { Status } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';

interface Host {
  readonly name: string;
  readonly by: string;
  readonly instances: readonly string[];
  readonly online: boolean;
  readonly device_id: number | null;
  readonly device_name: string | null;
  readonly has_agent: boolean;
  readonly series: number | null;
}

export interface StorePreview {
  readonly test: { readonly ok: boolean; readonly detail: string };
  readonly hosts: readonly Host[];
  readonly series: number | null;
  readonly series_without_host: number | null;
}

/** Which hosts a store brings, by which label, and how many series name none. */
export function Hosts({ preview }: { readonly preview: StorePreview }) {
  const { test, hosts, series, series_without_host: without } = preview;
  return (
    <>
      <p class={test.ok ? 'soft' : 'critical'}>{test.detail}</p>
      {test.ok && (
        <>
          <Table
            label={text.hosts}
            rows={hosts}
            columns={columns}
            keyOf={({ name }) => name}
            empty={<Empty title={text.noHosts} />}
          />
          <p class="soft">
            {series === null
              ? text.uncounted
              : say(text.unnamed, { number: without ?? 0, total: series })}
          </p>
        </>
      )}
    </>
  );
}

const columns: readonly Column<Host>[] = [
  {
    head: text.host,
    cell: ({ name, online }) => (
      <Status tone={online ? 'ok' : 'warning'}>
        <span class="cut" title={online ? text.up : text.down}>
          {name}
        </span>
      </Status>
    ),
  },
  { head: text.by, width: '110px', cell: ({ by }) => <code class="cut">{by}</code> },
  {
    head: text.instances,
    rank: 2,
    cell: ({ instances }) => <span class="cut">{instances.join(', ')}</span>,
  },
  { head: text.series, width: '80px', numeric: true, rank: 1, cell: ({ series }) => series ?? '–' },
  {
    head: text.device,
    width: '140px',
    cell: ({ device_id: id, device_name: name, has_agent: watched }) =>
      id === null ? (
        <span class="soft">{text.isNew}</span>
      ) : (
        <a class="cut" href={address(['devices', id])} title={watched ? text.agent : undefined}>
          {name}
        </a>
      ),
  },
];
