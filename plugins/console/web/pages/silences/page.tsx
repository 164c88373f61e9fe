import { useState } from 'preact/hooks';

import type { Incident } from '../shapes.ts';
import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useList } from '../../client/data.ts';
import { address, useParam } from '../../browser/location.ts';
import { silences as text } from '../../text/english/alerting/silences.ts';
import { count, say } from '../../text/words.ts';
import { attempt, Dialog } from '../../kit/dialog.tsx';
import { Field, Form, Segments, SelectField, TextField } from '../../kit/form.tsx';
import { Button, Empty, Head, Section } from '../../kit/parts.tsx';
import { Status } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';

interface Matcher {
  readonly name: string;
  readonly op: string;
  readonly value: string;
}

interface Silence {
  readonly id: number;
  readonly matchers: readonly Matcher[];
  readonly ends_at: string;
  readonly reason: string;
  readonly state: 'pending' | 'active' | 'expired';
  readonly in_force: boolean;
  readonly created_by: string;
}

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
  const alone = incidents.items ?? [];
  const [isNew, setNew] = useState(asked !== '');
  const close = (): void => {
    setNew(false);
    setAsked('');
  };
  const end = (id: number): void =>
    void attempt(() => api.delete(`/alerts/silences/${id}`), text.ended).then(silences.reload);
  return (
    <>
      <Head title={text.title}>
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
        {may('alert:silence') && (
          <Button kind="primary" icon="plus" onClick={() => setNew(true)}>
            {text.add}
          </Button>
        )}
      </Head>
      <Table
        label={text.title}
        rows={silences.items}
        asked={silences}
        columns={columnsOf(may('alert:silence') ? end : undefined)}
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
      {isNew && <NewSilence first={asked} onClose={close} onDone={silences.reload} />}
    </>
  );
}

const columnsOf = (onEnd: ((id: number) => void) | undefined): readonly Column<Silence>[] => [
  {
    head: text.what,
    cell: ({ matchers }) => <code class="cut">{matchers.map(lineOf).join(', ')}</code>,
  },
  { head: text.reason, rank: 2, cell: ({ reason }) => <span class="cut">{reason}</span> },
  {
    head: text.by,
    rank: 1,
    width: '140px',
    cell: ({ created_by: by }) => <span class="cut soft">{by}</span>,
  },
  {
    head: text.state,
    width: '110px',
    cell: ({ state: is, in_force: holds }) => (
      <Status tone={holds ? 'warning' : 'muted'}>{text[is]}</Status>
    ),
  },
  { head: text.until, width: '110px', cell: ({ ends_at: at }) => <Time at={at} /> },
  {
    head: text.end,
    width: '110px',
    cell: ({ id, state: is }) =>
      is !== 'expired' && onEnd ? <Button onClick={() => onEnd(id)}>{text.end}</Button> : null,
  },
];

/** Columns for incidents silenced on their own page, which have no silence in the list. */
const aloneColumns: readonly Column<Incident>[] = [
  {
    head: text.incident,
    cell: ({ summary, rule_name: name }) => <span class="cut">{summary || name}</span>,
  },
  { head: text.until, width: '110px', cell: ({ silenced_until: at }) => <Time at={at} /> },
];

const durations = ['30m', '1h', '2h', '4h', '12h', '24h', '72h', '168h'] as const;

/** Says what a silence would mute before it is made: one that mutes too much is found out in the night. */
function NewSilence({
  first,
  onClose,
  onDone,
}: {
  readonly first: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const [lines, setLines] = useState(first);
  const [duration, setDuration] = useState<(typeof durations)[number]>('2h');
  const [reason, setReason] = useState('');
  const { matchers, wrong } = matchersOf(lines);
  const body = { matchers, duration, reason };
  const make = async (): Promise<void> => {
    await api.post('/alerts/silences', body);
    onDone();
    onClose();
  };
  return (
    <Dialog title={text.add} onClose={onClose}>
      <Form
        submit={text.add}
        onSubmit={make}
        onCancel={onClose}
        disabled={matchers.length === 0 || wrong !== undefined || reason.trim() === ''}
      >
        <TextField
          label={text.matchers}
          value={lines}
          onInput={setLines}
          rows={3}
          mono
          autoFocus
          hint={text.matchersHint}
          error={wrong === undefined ? undefined : say(text.wrong, { line: wrong })}
        />
        <SelectField
          label={text.duration}
          value={duration}
          options={durations.map((one) => [one, one] as const)}
          onChange={setDuration}
        />
        <TextField
          label={text.reason}
          value={reason}
          onInput={setReason}
          hint={text.reasonHint}
          required
        />
        {matchers.length > 0 && wrong === undefined && (
          <Preview matchers={matchers} duration={duration} />
        )}
      </Form>
    </Dialog>
  );
}

interface Previewed {
  readonly firing_now: number;
  readonly muted_now: number;
  readonly fired_last_24h: number;
  readonly muted_last_24h: number;
  readonly muted: readonly { readonly incident_id: number; readonly rule: string }[];
}

function Preview({
  matchers,
  duration,
}: {
  readonly matchers: readonly Matcher[];
  readonly duration: string;
}) {
  const [shown, setShown] = useState<Previewed>();
  const look = (): void =>
    void attempt(async () =>
      setShown(
        await api.post<Previewed>('/alerts/silences/preview', { matchers, duration, reason: '-' }),
      ),
    );
  return (
    <Field label={text.preview}>
      {(ids) => (
        <div {...ids}>
          <Button onClick={look}>{text.look}</Button>
          {shown && (
            <p class="hint" role="status">
              {say(text.previewed, {
                firing: shown.firing_now,
                muted: shown.muted_now,
                fired: shown.fired_last_24h,
                was: shown.muted_last_24h,
              })}{' '}
              {shown.muted
                .slice(0, 5)
                .map(({ rule }) => rule)
                .join(', ')}{' '}
              {shown.muted.length > 5 && count(text.more, shown.muted.length - 5)}
            </p>
          )}
        </div>
      )}
    </Field>
  );
}

const lineOf = ({ name, op, value }: Matcher): string => `${name} ${op} ${value}`;

/** The number of the first line that is no matcher, from 1. */
function matchersOf(lines: string): {
  readonly matchers: readonly Matcher[];
  readonly wrong: number | undefined;
} {
  const matchers: Matcher[] = [];
  for (const [at, line] of lines.split('\n').entries()) {
    if (line.trim() !== '') {
      const [, name, op, value] =
        /^\s*([A-Za-z_][\w.]*)\s*(=~|!~|!=|=)\s*"?(.*?)"?\s*$/.exec(line) ?? [];
      if (name === undefined || op === undefined || value === undefined) {
        return { matchers, wrong: at + 1 };
      }
      matchers.push({ name, op, value });
    }
  }
  return { matchers, wrong: undefined };
}
