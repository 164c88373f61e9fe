import { useSeesAll } from '../../client/additions.ts';
import { useData, useList } from '../../client/data.ts';
import { duration } from '../../text/format.ts';
import { address, useParam, usePlace } from '../../browser/location.ts';
import { incidents as text } from '../../text/english/watch/incidents.ts';
import type { Incident } from '../shapes.ts';
import { Segments } from '../../kit/form.tsx';
import { Empty, Head, Refused } from '../../kit/parts.tsx';
import { statusName } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time, useNow } from '../../kit/time.tsx';
import { IncidentPage } from './incident.tsx';
import { placeOf, TitleCell } from '../incident-cell.tsx';

/** State filters; a silenced incident is not resolved. */
const states: Readonly<Record<string, string | undefined>> = {
  current: 'active',
  silenced: 'silenced',
  resolved: 'resolved',
  all: undefined,
};

/** `/ui/incidents`, and `/ui/incidents/<id>` for one. */
export default function Incidents() {
  const { parts } = usePlace();
  return parts[1] === undefined ? <List /> : <IncidentPage key={parts[1]} id={parts[1]} />;
}

function List() {
  const [state, setState] = useParam('state', 'current');
  const [severity, setSeverity] = useParam('severity');
  const [q, setQ] = useParam('q');
  const list = useList<Incident>('/alerts/incidents', {
    query: { status: states[state], severity, q },
    kinds: ['incidents'],
  });
  const seesAll = useSeesAll();
  const rules = useData<{ rules_enabled: number }>(
    seesAll && list.items?.length === 0 ? '/alerts/runtime-info' : undefined,
  );
  const isPlain = state === 'current' && severity === '' && q === '';
  return (
    <>
      <Head title={text.title} />
      <div class="filters">
        <input
          type="search"
          aria-label={text.search}
          placeholder={text.search}
          value={q}
          onInput={(event) => setQ(event.currentTarget.value)}
        />
        <Segments
          label={text.status}
          value={state}
          onChange={setState}
          options={[
            ['current', text.current],
            ['silenced', text.silenced],
            ['resolved', text.resolved],
            ['all', text.all],
          ]}
        />
        <Segments
          label={text.severity}
          value={severity}
          onChange={setSeverity}
          options={[
            ['', text.all],
            ['critical', text.critical],
            ['warning', text.warning],
            ['info', text.info],
          ]}
        />
      </div>
      {list.error && !list.items ? (
        <Refused error={list.error} retry={list.reload} />
      ) : (
        <Table
          label={text.title}
          rows={list.items}
          total={list.total}
          more={list.more}
          columns={columns}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => address(['incidents', id])}
          empty={
            isPlain ? (
              <Empty title={text.calm}>
                {text.calmNote}{' '}
                <a href={address(['rules'])}>
                  {rules.value === undefined
                    ? text.rules
                    : `${rules.value.rules_enabled} ${text.rules}`}
                </a>
              </Empty>
            ) : (
              <Empty title={text.none} />
            )
          }
        />
      )}
    </>
  );
}

function Lasts({ of }: { readonly of: Incident }) {
  const now = useNow();
  const end = of.resolved_at === null ? now : Date.parse(of.resolved_at);
  return <>{duration(Math.max(0, (end - Date.parse(of.last_fired_at)) / 1000))}</>;
}

const columns: readonly Column<Incident>[] = [
  {
    head: text.what,
    cell: (incident) => <TitleCell of={incident} />,
  },
  {
    head: text.where,
    width: '18%',
    rank: 2,
    cell: (incident) => <span class="cut soft">{placeOf(incident)}</span>,
  },
  {
    head: text.state,
    width: '120px',
    rank: 1,
    cell: ({ status }) => <span class="soft">{statusName(status)}</span>,
  },
  { head: text.fired, width: '120px', cell: ({ last_fired_at: at }) => <Time at={at} /> },
  {
    head: text.lasted,
    width: '90px',
    numeric: true,
    rank: 2,
    cell: (incident) => <Lasts of={incident} />,
  },
];
