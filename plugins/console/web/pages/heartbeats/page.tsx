import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useList } from '../../client/data.ts';
import { heartbeats as text } from '../../text/english/watch/heartbeats.ts';
import { Dialog, tell } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { Button, Copyable, Empty, Head } from '../../kit/parts.tsx';
import { Mark, type Tone } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import type { Heartbeat } from './heartbeat.ts';
import { ShownHeartbeat } from './shown.tsx';

const tones: Readonly<Record<Heartbeat['state'], Tone>> = {
  waiting: 'muted',
  up: 'ok',
  running: 'info',
  late: 'warning',
  down: 'critical',
  paused: 'muted',
};

/** Jobs that report that they have run. */
export default function Heartbeats() {
  const may = useMay()('heartbeat:edit');
  const [isNew, setNew] = useState(false);
  const [shown, setShown] = useState<string>();
  const list = useList<Heartbeat>('/heartbeats', { every: 10_000 });
  const chosen = list.items?.find(({ name }) => name === shown);
  return (
    <>
      <Head title={text.title} note={text.note}>
        {may && (
          <Button icon="plus" onClick={() => setNew(true)}>
            {text.add}
          </Button>
        )}
      </Head>
      <Table
        label={text.title}
        rows={list.items}
        asked={list}
        columns={columns}
        keyOf={({ name }) => name}
        onPick={({ name }) => setShown(name)}
        empty={<Empty title={text.empty}>{text.emptyNote}</Empty>}
        {...(list.more !== undefined && { more: list.more })}
      />
      {isNew && <NewHeartbeat onClose={() => setNew(false)} onDone={list.reload} />}
      {chosen && (
        <ShownHeartbeat
          key={chosen.name}
          heartbeat={chosen}
          onClose={() => setShown(undefined)}
          onDone={list.reload}
        />
      )}
    </>
  );
}

const columns: readonly Column<Heartbeat>[] = [
  {
    head: text.name,
    cell: ({ name, state, cause, cron, period_s: period }) => (
      <span class="status">
        <Mark tone={tones[state]} />
        <span class="cut" title={cause ?? undefined}>
          {name}{' '}
          <span class={state === 'down' ? 'critical' : 'soft'}>
            {cause ?? cron ?? `${period} s`}
          </span>
        </span>
      </span>
    ),
  },
  { head: text.state, width: '190px', rank: 1, cell: ({ state }) => text[state] },
  { head: text.last, width: '120px', cell: ({ last_ping_at: at }) => <Time at={at} /> },
  {
    head: text.expected,
    width: '120px',
    rank: 1,
    cell: ({ expected_at: at }) => (at === null ? '–' : <Time at={at} />),
  },
];

interface NewProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function NewHeartbeat({ onClose, onDone }: NewProps) {
  const [name, setName] = useState('');
  const [cron, setCron] = useState('');
  const [zone, setZone] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [period, setPeriod] = useState('');
  const [grace, setGrace] = useState('300');
  const [url, setUrl] = useState<string>();
  const create = async (): Promise<void> => {
    const made = await api.post<{ readonly url: string }>('/heartbeats', {
      name,
      ...(cron.trim() === '' ? { period_s: Number(period) } : { cron, time_zone: zone }),
      grace_s: Number(grace),
    });
    tell(text.made);
    onDone();
    setUrl(made.url);
  };
  if (url !== undefined) {
    return (
      <Dialog title={text.address} onClose={onClose}>
        <p>{text.addressNote}</p>
        <Copyable value={url} />
      </Dialog>
    );
  }
  return (
    <Dialog title={text.add} onClose={onClose}>
      <Form submit={text.add} onSubmit={create} onCancel={onClose}>
        <TextField label={text.name} value={name} onInput={setName} required autoFocus />
        <TextField label={text.cron} value={cron} onInput={setCron} hint={text.cronHint} mono />
        {cron.trim() === '' ? (
          <TextField
            label={text.period}
            value={period}
            onInput={setPeriod}
            hint={text.periodHint}
            type="number"
            required
          />
        ) : (
          <TextField label={text.zone} value={zone} onInput={setZone} mono required />
        )}
        <TextField
          label={text.grace}
          value={grace}
          onInput={setGrace}
          hint={text.graceHint}
          type="number"
          required
        />
      </Form>
    </Dialog>
  );
}
