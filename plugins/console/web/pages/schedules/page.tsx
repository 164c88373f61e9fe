import { useState } from 'preact/hooks';

import { address, goTo, usePlace } from '../../browser/location.ts';
import { useMay } from '../../client/additions.ts';
import { api } from '../../client/api.ts';
import { useData, useList } from '../../client/data.ts';
import { attempt } from '../../kit/dialog.tsx';
import { Awaited, Button, Empty, Fields, Head, Section } from '../../kit/parts.tsx';
import { Status, type Tone } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { schedules as text } from '../../text/english/act/schedules.ts';
import { figure } from '../../text/format.ts';
import { say } from '../../text/words.ts';
import { NewSchedule } from './new-schedule.tsx';

interface Schedule {
  readonly id: number;
  readonly name: string;
  readonly agent: string | null;
  readonly question: string;
  readonly when: string;
  readonly trigger: 'cron' | 'incident' | 'deploy' | 'agent_offline';
  readonly deliver_to: 'timeline' | 'channel' | 'document';
  readonly tokens_per_day: number;
  readonly state: 'active' | 'paused' | 'stopped';
  readonly because: string | null;
  readonly owner: string;
  readonly next_at: string | null;
  readonly runs: number;
  readonly failed_runs: number;
  readonly tokens: number;
  readonly tokens_today: number;
  readonly skipped: number;
  readonly skipped_because: string | null;
}

interface Run {
  readonly run_id: string;
  readonly state: 'waiting' | 'running' | 'approval' | 'done' | 'failed';
  readonly due_at: string;
  readonly late_seconds: number;
  readonly started_by: string;
  readonly session_id: string;
  readonly error: string | null;
  readonly delivered: string | null;
  readonly total_tokens: number;
}

/** `/ui/schedules` lists them; `/ui/schedules/<id>` shows what one did, and what it cost. */
export default function Schedules() {
  const { parts } = usePlace();
  return parts[1] === undefined ? <All /> : <One key={parts[1]} id={parts[1]} />;
}

function All() {
  const may = useMay();
  const [isNew, setNew] = useState(false);
  const list = useList<Schedule>('/schedules', { every: 10_000 });
  return (
    <>
      <Head title={text.title} note={text.note}>
        {may('schedule:manage') && (
          <Button kind="primary" icon="plus" onClick={() => setNew(true)}>
            {text.add}
          </Button>
        )}
      </Head>
      <Table
        label={text.title}
        rows={list.items}
        asked={list}
        columns={columns}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => address(['schedules', id])}
        total={list.total}
        more={list.more}
        empty={<Empty title={text.none}>{text.noneNote}</Empty>}
      />
      {isNew && <NewSchedule onClose={() => setNew(false)} onDone={list.reload} />}
    </>
  );
}

const tones: Readonly<Record<Schedule['state'], Tone>> = {
  active: 'ok',
  paused: 'muted',
  stopped: 'critical',
};

const columns: readonly Column<Schedule>[] = [
  { head: text.name, cell: ({ name }) => <span class="cut">{name}</span> },
  { head: text.when, rank: 2, cell: ({ when }) => <span class="cut soft">{when}</span> },
  {
    head: text.state,
    width: '110px',
    cell: ({ state, because }) => (
      <span title={because ?? undefined}>
        <Status tone={tones[state]}>{text[state]}</Status>
      </span>
    ),
  },
  {
    head: text.next,
    width: '110px',
    rank: 1,
    cell: ({ next_at: at }) => (at === null ? null : <Time at={at} />),
  },
  { head: text.runs, width: '80px', numeric: true, rank: 1, cell: ({ runs }) => runs },
  { head: text.failed, width: '80px', numeric: true, rank: 1, cell: ({ failed_runs: n }) => n },
  {
    head: text.tokens,
    width: '100px',
    numeric: true,
    cell: ({ tokens }) => figure(tokens, 'count'),
  },
];

function One({ id }: { readonly id: string }) {
  const may = useMay();
  const path = `/schedules/${encodeURIComponent(id)}`;
  const { value, error, reload } = useData<Schedule>(path, { every: 5_000 });
  const runs = useList<Run>(`${path}/runs`, { every: 5_000 });
  const act = (work: () => Promise<unknown>, done?: string): void =>
    void attempt(work, done).then(() => {
      reload();
      runs.reload();
    });
  const remove = async (): Promise<void> => {
    await api.delete(path);
    goTo(address(['schedules']));
  };
  return (
    <>
      <Head title={value?.name ?? text.title}>
        {value !== undefined && may('schedule:manage') && (
          <>
            {value.deliver_to !== 'timeline' && value.state !== 'stopped' && (
              <Button
                icon="play"
                onClick={() => act(() => api.post(`${path}/run`, {}), text.started)}
              >
                {text.run}
              </Button>
            )}
            {value.state === 'active' ? (
              <Button icon="pause" onClick={() => act(() => api.post(`${path}/pause`))}>
                {text.pause}
              </Button>
            ) : (
              <Button onClick={() => act(() => api.post(`${path}/resume`))}>{text.resume}</Button>
            )}
            <Button kind="danger" icon="trash" onClick={() => void attempt(remove, text.removed)}>
              {text.remove}
            </Button>
          </>
        )}
      </Head>
      {value === undefined ? (
        <Awaited error={error} lines={6} />
      ) : (
        <>
          {value.because !== null && <p class="warning">{value.because}</p>}
          <Fields of={fieldsOf(value)} />
        </>
      )}
      <Section title={text.history}>
        <Table
          label={text.history}
          rows={runs.items}
          asked={runs}
          columns={runColumns}
          keyOf={({ run_id: run }) => run}
          total={runs.total}
          more={runs.more}
          empty={<Empty title={text.noRuns}>{text.noRunsNote}</Empty>}
        />
      </Section>
    </>
  );
}

const fieldsOf = (schedule: Schedule): Parameters<typeof Fields>[0]['of'] => [
  [
    text.state,
    <Status key="state" tone={tones[schedule.state]}>
      {text[schedule.state]}
    </Status>,
  ],
  [text.question, schedule.question],
  [text.agent, schedule.agent ?? text.anyAgent],
  [text.when, schedule.when],
  [text.next, schedule.next_at && <Time key="next" at={schedule.next_at} />],
  [text.place, text[schedule.deliver_to]],
  [text.owner, schedule.owner],
  [text.tokens, figure(schedule.tokens, 'count')],
  [
    text.today,
    say(text.ofDay, {
      used: figure(schedule.tokens_today, 'count'),
      limit: figure(schedule.tokens_per_day, 'count'),
    }),
  ],
  [
    text.skipped,
    schedule.skipped > 0 &&
      say(text.skippedWhy, { count: schedule.skipped, why: schedule.skipped_because ?? '' }),
  ],
];

const outcomes: Readonly<Record<Run['state'], readonly [Tone, string]>> = {
  waiting: ['muted', text.waiting],
  running: ['info', text.running],
  approval: ['warning', text.approval],
  done: ['ok', text.done],
  failed: ['critical', text.failedRun],
};

const runColumns: readonly Column<Run>[] = [
  {
    head: text.due,
    width: '150px',
    cell: ({ due_at: at, late_seconds: late }) => (
      <>
        <Time at={at} />
        {late > 0 && <span class="soft"> {say(text.late, { by: figure(late, 'seconds') })}</span>}
      </>
    ),
  },
  {
    head: text.outcome,
    cell: ({ state, error, delivered }) => (
      <span class="cut" title={error ?? undefined}>
        <Status tone={outcomes[state][0]}>{outcomes[state][1]}</Status>{' '}
        <span class="soft">{error ?? delivered}</span>
      </span>
    ),
  },
  {
    head: text.tokens,
    width: '100px',
    numeric: true,
    cell: ({ total_tokens: tokens }) => figure(tokens, 'count'),
  },
  {
    head: text.session,
    width: '170px',
    cell: ({ session_id: session }) => <a href={address(['chat', session])}>{text.open}</a>,
  },
];
