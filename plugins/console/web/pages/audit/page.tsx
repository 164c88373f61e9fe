import { useList } from '../../client/data.ts';
import { useParam } from '../../browser/location.ts';
import { audit as text } from '../../text/english/administration/audit.ts';
import { Segments } from '../../kit/form.tsx';
import { Empty, Head } from '../../kit/parts.tsx';
import { Status, type Tone } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import type { AuditRow } from '../shapes.ts';

const tones: Readonly<Record<AuditRow['status'], Tone>> = {
  success: 'ok',
  failure: 'warning',
  denied: 'critical',
};

/** Actions that open pages cause themselves, including this one: they would bury the rest. */
const byThemselves = 'auth:refresh,audit:read';

export default function Audit() {
  const [status, setStatus] = useParam('status');
  const [action, setAction] = useParam('action');
  const [every, setEvery] = useParam('every');
  const without = every === '' && action === '' ? byThemselves : '';
  const rows = useList<AuditRow>('/admin/audit-logs', {
    query: { status, action, without },
    every: 15_000,
  });
  return (
    <>
      <Head title={text.title} note={text.note}>
        <input
          type="search"
          value={action}
          placeholder={text.action}
          aria-label={text.action}
          onInput={(event) => setAction(event.currentTarget.value)}
        />
        <Segments
          label={text.outcome}
          value={status}
          options={[
            ['', text.all],
            ['success', text.success],
            ['failure', text.failure],
            ['denied', text.denied],
          ]}
          onChange={setStatus}
        />
        <Segments
          label={text.rows}
          value={every}
          options={[
            ['', text.done],
            ['yes', text.every],
          ]}
          onChange={setEvery}
        />
      </Head>
      <Table
        label={text.title}
        rows={rows.items}
        asked={rows}
        columns={columns}
        keyOf={({ id }) => id}
        total={rows.total}
        more={rows.more}
        empty={<Empty title={text.none} />}
      />
    </>
  );
}

const columns: readonly Column<AuditRow>[] = [
  { head: text.what, cell: ({ action, status }) => <Status tone={tones[status]}>{action}</Status> },
  {
    head: text.on,
    rank: 2,
    cell: ({ resource_type: type, resource_id: id }) => (
      <span class="cut soft">{id === null ? type : `${type} ${id}`}</span>
    ),
  },
  {
    head: text.who,
    width: '24%',
    cell: ({ actor }) => (
      <span class="cut">
        {actor.name ??
          actor.email ??
          (actor.type === actor.id ? actor.id : `${actor.type} ${actor.id}`)}
      </span>
    ),
  },
  { head: text.at, width: '110px', cell: ({ occurred_at: at }) => <Time at={at} /> },
];
