import { wear } from '../../browser/sheet.ts';
import rules from '../../styles/shell.css' with { type: 'text' };
import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useData, useList } from '../../client/data.ts';
import { nameOfDevice, useNames } from '../../client/names.ts';
import { duration, figure } from '../../text/format.ts';
import { address, usePlace } from '../../browser/location.ts';
import { shells as text } from '../../text/english/act/shell.ts';
import { attempt } from '../../kit/dialog.tsx';
import { Button, Empty, Head, Refused, Tabs } from '../../kit/parts.tsx';
import { Status, type Tone } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { PlayerPage } from './player.tsx';
import { ShellPage } from './session.tsx';

wear(rules);

/** `/ui/shell`, `/ui/shell/recordings`, `/ui/shell/recordings/<id>`; `/ui/shell/<device>` is a shell. */
export default function Shells() {
  const { parts } = usePlace();
  if (parts[1] === 'recordings' && parts[2] !== undefined) {
    return <PlayerPage key={parts[2]} id={parts[2]} />;
  }
  if (parts[1] !== undefined && parts[1] !== 'recordings') {
    return <ShellPage key={parts[1]} device={parts[1]} />;
  }
  const shows = parts[1] === 'recordings' ? 'recordings' : 'open';
  return (
    <>
      <Head title={text.title}>
        <a class="button" href={address(['devices'])}>
          {text.devices}
        </a>
      </Head>
      <Tabs
        active={shows}
        tabs={[
          { id: 'open', title: text.open, href: address(['shell']) },
          { id: 'recordings', title: text.past, href: address(['shell', 'recordings']) },
        ]}
      />
      {shows === 'open' ? <Open /> : <Recordings />}
    </>
  );
}

interface Shell {
  readonly id: number;
  readonly user_id: number | null;
  readonly device_id: number;
  readonly remote_user: string;
  readonly started_at: string;
  readonly attached: boolean;
  readonly bytes_out: number;
}

interface Named {
  readonly id: number;
  readonly display_name: string;
}

/** Names of people and devices; who may not read them sees their numbers. */
function useAccountNames(devices: readonly { readonly device_id: number }[] | undefined): {
  readonly person: (id: number | null) => string;
  readonly device: (id: number) => string;
} {
  const users = useData<{ readonly items: readonly Named[] }>('/users', { query: { limit: 200 } })
    .value?.items;
  useNames((devices ?? []).map(({ device_id: id }) => ({ device_id: String(id) })));
  const nameIn = (all: readonly Named[] | undefined, id: number): string =>
    all?.find((one) => one.id === id)?.display_name ?? `#${id}`;
  return {
    person: (id) => (id === null ? text.operator : nameIn(users, id)),
    device: (id) => nameOfDevice(String(id)) ?? `#${id}`,
  };
}

function Open() {
  const mayEnd = useMay()('webshell');
  const shells = useList<Shell>('/webshell/sessions', { query: { state: 'active' }, every: 5_000 });
  const { person, device } = useAccountNames(shells.items);
  const end = (id: number): void =>
    void attempt(() => api.delete(`/webshell/sessions/${id}`), text.ended).then(shells.reload);
  const columns: readonly Column<Shell>[] = [
    { head: text.who, cell: ({ user_id: id }) => <span class="cut">{person(id)}</span> },
    {
      head: text.device,
      cell: ({ device_id: id }) => (
        <a class="cut" href={address(['devices', id])}>
          {device(id)}
        </a>
      ),
    },
    {
      head: text.as,
      width: '110px',
      cell: ({ remote_user: user }) => <span class="mono cut">{user}</span>,
    },
    {
      head: text.state,
      width: '170px',
      rank: 2,
      cell: ({ attached }) => (
        <Status tone={attached ? 'ok' : 'warning'}>
          {attached ? text.attached : text.waiting}
        </Status>
      ),
    },
    {
      head: text.sent,
      width: '90px',
      rank: 1,
      numeric: true,
      cell: ({ bytes_out: bytes }) => figure(bytes, 'bytes'),
    },
    { head: text.since, width: '110px', rank: 1, cell: ({ started_at: at }) => <Time at={at} /> },
    {
      head: text.end,
      width: '100px',
      cell: ({ id }) =>
        mayEnd ? (
          <Button kind="danger" onClick={() => end(id)}>
            {text.end}
          </Button>
        ) : null,
    },
  ];
  return shells.error && !shells.items ? (
    <Refused error={shells.error} retry={shells.reload} />
  ) : (
    <Table
      label={text.open}
      rows={shells.items}
      columns={columns}
      keyOf={({ id }) => id}
      total={shells.total}
      more={shells.more}
      empty={<Empty title={text.none}>{text.noneNote}</Empty>}
    />
  );
}

export interface Recording {
  readonly id: number;
  readonly user_id: number | null;
  readonly device_id: number;
  readonly remote_user: string;
  readonly started_at: string;
  readonly state: 'recording' | 'complete' | 'interrupted' | 'failed' | 'deleted';
  readonly bytes: number | null;
  readonly duration_seconds: number | null;
}

const tones: Readonly<Record<Recording['state'], Tone>> = {
  recording: 'info',
  complete: 'ok',
  interrupted: 'warning',
  failed: 'critical',
  deleted: 'muted',
};

function Recordings() {
  const recordings = useList<Recording>('/webshell/recordings', { every: 15_000 });
  const { person, device } = useAccountNames(recordings.items);
  const columns: readonly Column<Recording>[] = [
    { head: text.device, cell: ({ device_id: id }) => <span class="cut">{device(id)}</span> },
    {
      head: text.as,
      width: '110px',
      cell: ({ remote_user: user }) => <span class="mono cut">{user}</span>,
    },
    { head: text.who, rank: 2, cell: ({ user_id: id }) => <span class="cut">{person(id)}</span> },
    {
      head: text.state,
      width: '130px',
      rank: 2,
      cell: ({ state }) => <Status tone={tones[state]}>{text[state]}</Status>,
    },
    {
      head: text.length,
      width: '90px',
      numeric: true,
      cell: ({ duration_seconds: seconds }) => (seconds === null ? '–' : duration(seconds)),
    },
    {
      head: text.size,
      width: '90px',
      rank: 1,
      numeric: true,
      cell: ({ bytes }) => figure(bytes, 'bytes'),
    },
    { head: text.since, width: '110px', rank: 1, cell: ({ started_at: at }) => <Time at={at} /> },
  ];
  return recordings.error && !recordings.items ? (
    <Refused error={recordings.error} retry={recordings.reload} />
  ) : (
    <Table
      label={text.past}
      rows={recordings.items}
      columns={columns}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => address(['shell', 'recordings', id])}
      total={recordings.total}
      more={recordings.more}
      empty={<Empty title={text.noRecordings}>{text.noRecordingsNote}</Empty>}
    />
  );
}
