import { useState } from 'preact/hooks';

import type { Incident } from '../shapes.ts';
import { wear } from '../../browser/sheet.ts';
import rules from '../../styles/alerting.css' with { type: 'text' };
import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { type ListData, useList } from '../../client/data.ts';
import { address, useParam } from '../../browser/location.ts';
import { silences as text } from '../../text/english/alerting/silences.ts';
import { duration as lasting } from '../../text/format.ts';
import { say } from '../../text/words.ts';
import { attempt } from '../../kit/dialog.tsx';
import { Segments } from '../../kit/form.tsx';
import { Button, Empty, Head, Section } from '../../kit/parts.tsx';
import { Status } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { Calendar } from './calendar.tsx';
import { SilenceDialog } from './silence-dialog.tsx';
import { lineOf, matchersOf, type Recurrence, type Silence } from './silence.ts';

wear(rules);

export default function Silences() {
  const may = useMay();
  const [state, setState] = useParam('state', 'active');
  const [asked, setAsked] = useParam('match');
  const silences = useList<Silence>('/alerts/silences', {
    query: { state },
    kinds: ['incidents', 'rules'],
    every: 30_000,
  });
  const incidents = useList<Incident>('/alerts/incidents', {
    query: { status: 'silenced' },
    kinds: ['incidents'],
  });
  const [view, setView] = useParam('view', 'list');
  const [edited, setEdited] = useState<Silence | 'new' | undefined>(
    asked === '' ? undefined : 'new',
  );
  const close = (): void => {
    setEdited(undefined);
    setAsked('');
  };
  const pick = (id: number): void =>
    void attempt(async () => setEdited(await api.get<Silence>(`/alerts/silences/${id}`)));
  const mayEdit = may('alert:silence');
  const end = (id: number): void =>
    void attempt(() => api.delete(`/alerts/silences/${id}`), text.ended).then(silences.reload);
  return (
    <>
      <Head title={text.title}>
        <Segments
          label={text.view}
          value={view}
          options={[
            ['list', text.list],
            ['calendar', text.calendar],
          ]}
          onChange={setView}
        />
        {view === 'list' && (
          <Segments
            label={text.state}
            value={state}
            options={[
              ['active', text.active],
              ['pending', text.pending],
              ['expired', text.expired],
            ]}
            onChange={setState}
          />
        )}
        {mayEdit && (
          <Button kind="primary" icon="plus" onClick={() => setEdited('new')}>
            {text.add}
          </Button>
        )}
      </Head>
      {view === 'calendar' ? (
        <Calendar onPick={pick} />
      ) : (
        <List
          state={state}
          silences={silences}
          incidents={incidents}
          on={mayEdit ? { end, edit: setEdited } : undefined}
        />
      )}
      {edited !== undefined && (
        <SilenceDialog
          silence={edited === 'new' ? undefined : edited}
          first={matchersOf(asked)}
          onClose={close}
          onDone={silences.reload}
        />
      )}
    </>
  );
}

interface Hands {
  readonly end: (id: number) => void;
  readonly edit: (silence: Silence) => void;
}

function List({
  state,
  silences,
  incidents,
  on,
}: {
  readonly state: string;
  readonly silences: ListData<Silence>;
  readonly incidents: ListData<Incident>;
  readonly on: Hands | undefined;
}) {
  const alone = incidents.items ?? [];
  return (
    <>
      <Table
        label={text.title}
        rows={silences.items}
        asked={silences}
        columns={columnsOf(on)}
        keyOf={({ id }) => id}
        total={silences.total}
        more={silences.more}
        empty={
          <Empty title={state === 'active' && alone.length > 0 ? text.noneByLabel : text.none}>
            {text.noneNote}
          </Empty>
        }
      />
      {state === 'active' && alone.length > 0 && (
        <Section title={text.alone}>
          <Table
            label={text.alone}
            rows={alone}
            columns={aloneColumns}
            keyOf={({ id }) => id}
            hrefOf={({ id }) => address(['incidents', id])}
            total={incidents.total}
            more={incidents.more}
            empty={null}
          />
        </Section>
      )}
    </>
  );
}

const columnsOf = (on: Hands | undefined): readonly Column<Silence>[] => [
  {
    head: text.what,
    cell: ({ matchers }) => <code class="cut">{matchers.map(lineOf).join(', ')}</code>,
  },
  { head: text.reason, rank: 2, cell: ({ reason }) => <span class="cut">{reason}</span> },
  {
    head: text.whenColumn,
    rank: 1,
    width: '200px',
    cell: ({ recurrence }) =>
      recurrence && <span class="cut soft">{recurrenceLine(recurrence)}</span>,
  },
  {
    head: text.by,
    rank: 1,
    width: '130px',
    cell: ({ created_by: by }) => <span class="cut soft">{by}</span>,
  },
  {
    head: text.state,
    width: '90px',
    cell: ({ state: is, in_force: holds }) => (
      <Status tone={holds ? 'warning' : 'muted'}>{text[is]}</Status>
    ),
  },
  { head: text.until, width: '100px', rank: 2, cell: ({ ends_at: at }) => <Time at={at} /> },
  {
    head: text.actions,
    width: '216px',
    cell: (silence) =>
      silence.state !== 'expired' && on ? (
        <span class="status">
          <Button onClick={() => on.edit(silence)}>{text.edit}</Button>
          <Button onClick={() => on.end(silence.id)}>{text.end}</Button>
        </span>
      ) : null,
  },
];

function recurrenceLine({ days, start, duration, time_zone: zone }: Recurrence): string {
  return say(text.every, {
    days: days.length === 0 ? text.everyDay : days.map((day) => text[day]).join(', '),
    start,
    duration: lasting(Number.parseInt(duration, 10)),
    zone,
  });
}

/** Columns for incidents silenced on their own page, which have no silence in the list. */
const aloneColumns: readonly Column<Incident>[] = [
  {
    head: text.incident,
    cell: ({ summary, rule_name: name }) => <span class="cut">{summary || name}</span>,
  },
  { head: text.until, width: '110px', cell: ({ silenced_until: at }) => <Time at={at} /> },
];
