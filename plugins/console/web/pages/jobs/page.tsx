import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useList } from '../../client/data.ts';
import { useParam } from '../../browser/location.ts';
import { jobs as text } from '../../text/english/administration/jobs.ts';
import { say } from '../../text/words.ts';
import { attempt } from '../../kit/dialog.tsx';
import { Segments } from '../../kit/form.tsx';
import { Button, Empty, Head } from '../../kit/parts.tsx';
import { Status, type Tone } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';

interface Job {
  readonly id: string;
  readonly plugin: string;
  readonly queue: string;
  readonly title: string;
  readonly state: 'waiting' | 'running' | 'parked' | 'done' | 'failed' | 'cancelled';
  readonly attempts: number;
  readonly created_at: string;
  readonly due_at: string | null;
  readonly progress: {
    readonly done: number;
    readonly total: number;
    readonly note: string;
  } | null;
  readonly error: string | null;
  readonly cancellable: boolean;
}

const tones: Readonly<Record<Job['state'], Tone>> = {
  waiting: 'muted',
  running: 'info',
  parked: 'muted',
  done: 'ok',
  failed: 'critical',
  cancelled: 'warning',
};

export default function Jobs() {
  const [state, setState] = useParam('state');
  const may = useMay();
  const jobs = useList<Job>('/jobs', { query: { state }, every: 5_000 });
  return (
    <>
      <Head title={text.title} note={text.note}>
        <Segments
          label={text.state}
          value={state}
          options={[
            ['', text.all],
            ['waiting', text.waiting],
            ['running', text.running],
            ['failed', text.failed],
          ]}
          onChange={setState}
        />
      </Head>
      <Table
        label={text.title}
        rows={jobs.items}
        asked={jobs}
        columns={may('job:cancel') ? [...columns, cancelling(jobs.reload)] : columns}
        keyOf={({ id }) => id}
        total={jobs.total}
        more={jobs.more}
        empty={<Empty title={text.none}>{text.noneNote}</Empty>}
      />
    </>
  );
}

const columns: readonly Column<Job>[] = [
  {
    head: text.what,
    cell: ({ title, error, progress }) => (
      <span class="cut" title={error ?? undefined}>
        {title}
        {progress !== null && progress.total > 0 && (
          <span class="soft">
            {' '}
            {say(text.progress, { done: progress.done, total: progress.total })}
          </span>
        )}
        {error !== null && <span class="soft"> {error}</span>}
      </span>
    ),
  },
  {
    head: text.plugin,
    width: '16%',
    rank: 2,
    cell: ({ plugin, queue }) => (
      <span class="cut">{queue === plugin ? plugin : `${plugin} · ${queue}`}</span>
    ),
  },
  {
    head: text.state,
    width: '110px',
    cell: ({ state }) => <Status tone={tones[state]}>{state}</Status>,
  },
  { head: text.tries, width: '80px', numeric: true, rank: 1, cell: ({ attempts }) => attempts },
  {
    head: text.next,
    width: '110px',
    rank: 1,
    cell: ({ due_at: at }) => (at === null ? null : <Time at={at} />),
  },
  { head: text.created, width: '110px', rank: 2, cell: ({ created_at: at }) => <Time at={at} /> },
];

const cancelling = (reload: () => void): Column<Job> => ({
  head: text.action,
  width: '110px',
  cell: ({ id, cancellable }) =>
    cancellable && (
      <Button
        onClick={() =>
          void attempt(async () => {
            await api.post(`/jobs/${encodeURIComponent(id)}/cancel`);
            reload();
          }, text.cancelled)
        }
      >
        {text.cancel}
      </Button>
    ),
});
