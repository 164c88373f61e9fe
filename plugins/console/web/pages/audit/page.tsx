import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useList } from '../../client/data.ts';
import { useParam } from '../../browser/location.ts';
import { audit as text } from '../../text/english/administration/audit.ts';
import { attempt } from '../../kit/dialog.tsx';
import { Segments } from '../../kit/form.tsx';
import { Button, Empty, Head } from '../../kit/parts.tsx';
import { Status } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import type { AuditRow } from '../shapes.ts';
import { actorOf, Entry, resourceOf, tones } from './entry.tsx';

/** Actions that open pages cause themselves, including this one: they would bury the rest. */
const byThemselves = 'auth:refresh,audit:read';

type Param = readonly [value: string, set: (value: string) => void];

/** The filters of the page, which are in its address, as the API has them. */
function useFilters() {
  const status = useParam('status');
  const action = useParam('action');
  const every = useParam('every');
  const actor = useParam('actor');
  const type = useParam('resource_type');
  const id = useParam('resource_id');
  const ip = useParam('ip');
  const from = useParam('from');
  const to = useParam('to');
  const isPlain = [action, actor, type, id, ip].every(([value]) => value === '');
  return {
    status,
    action,
    every,
    further: [
      [text.person, actor],
      [text.type, type],
      [text.id, id],
      [text.ip, ip],
    ] as readonly (readonly [label: string, param: Param])[],
    times: [
      [text.from, from],
      [text.to, to],
    ] as readonly (readonly [label: string, param: Param])[],
    query: {
      status: status[0],
      action: action[0],
      actor: actor[0],
      resource_type: type[0],
      resource_id: id[0],
      ip: ip[0],
      from: instant(from[0]),
      to: instant(to[0]),
      without: every[0] === '' && isPlain ? byThemselves : '',
    },
  };
}

/** A time of the reader's clock, as the field has it, for the API; half a time asks for nothing. */
function instant(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}

export default function Audit() {
  const { status, action, every, further, times, query } = useFilters();
  const [picked, setPicked] = useState<AuditRow>();
  const rows = useList<AuditRow>('/admin/audit-logs', { query, every: 15_000 });
  return (
    <>
      <Head title={text.title} note={text.note}>
        <Button onClick={() => void attempt(() => save(query))}>{text.export}</Button>
      </Head>
      <div class="filters">
        <Search label={text.action} param={action} />
        <Segments
          label={text.outcome}
          value={status[0]}
          options={[
            ['', text.all],
            ['success', text.success],
            ['failure', text.failure],
            ['denied', text.denied],
          ]}
          onChange={status[1]}
        />
        <Segments
          label={text.rows}
          value={every[0]}
          options={[
            ['', text.done],
            ['yes', text.every],
          ]}
          onChange={every[1]}
        />
      </div>
      <details
        class="further"
        open={[...further, ...times].some(([, [value]]) => value !== '') || undefined}
      >
        <summary>{text.more}</summary>
        <div class="filters">
          {further.map(([label, param]) => (
            <Search key={label} label={label} param={param} />
          ))}
          {times.map(([label, [value, set]]) => (
            <label key={label} class="status soft">
              {label}
              <input
                type="datetime-local"
                value={value}
                onInput={(event) => set(event.currentTarget.value)}
              />
            </label>
          ))}
        </div>
      </details>
      <Table
        label={text.title}
        rows={rows.items}
        asked={rows}
        columns={columns}
        keyOf={({ id }) => id}
        onPick={setPicked}
        total={rows.total}
        more={rows.more}
        empty={<Empty title={text.none} />}
      />
      {picked && <Entry row={picked} onClose={() => setPicked(undefined)} />}
    </>
  );
}

const Search = ({
  label,
  param: [value, set],
}: {
  readonly label: string;
  readonly param: Param;
}) => (
  <input
    type="search"
    value={value}
    placeholder={label}
    aria-label={label}
    onInput={(event) => set(event.currentTarget.value)}
  />
);

/** Downloads the entries that the filters let through. */
async function save(query: Readonly<Record<string, string>>): Promise<void> {
  const answer = await api.open('GET', '/admin/audit-logs/export', {
    query: { ...query, format: 'csv' },
  });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await answer.blob());
  link.download = 'audit.csv';
  link.click();
  URL.revokeObjectURL(link.href);
}

const columns: readonly Column<AuditRow>[] = [
  { head: text.what, cell: ({ action, status }) => <Status tone={tones[status]}>{action}</Status> },
  { head: text.on, rank: 2, cell: (row) => <span class="cut soft">{resourceOf(row)}</span> },
  { head: text.who, width: '24%', cell: (row) => <span class="cut">{actorOf(row)}</span> },
  {
    head: text.where,
    width: '120px',
    rank: 1,
    cell: ({ ip }) => <span class="cut soft mono">{ip}</span>,
  },
  { head: text.at, width: '110px', cell: ({ occurred_at: at }) => <Time at={at} /> },
];
