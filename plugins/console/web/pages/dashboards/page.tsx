import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useList } from '../../client/data.ts';
import { address, goTo, usePlace } from '../../browser/location.ts';
import { dashboards as text } from '../../text/english/watch/dashboards.ts';
import { say } from '../../text/words.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { Button, Empty, Head } from '../../kit/parts.tsx';
import { Status } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { freeUid } from '../../kit/chart/free-uid.ts';
import { DashboardPage } from './dashboard.tsx';
import { Unsaved } from './editor/unsaved.tsx';

interface Item {
  readonly uid: string;
  readonly title: string;
  readonly source: string;
  readonly panels: number;
  readonly variables: readonly string[];
  readonly problem?: string;
}

/** `/ui/dashboards`, and `/ui/dashboards/<uid>` for one. */
export default function Dashboards() {
  const { parts } = usePlace();
  return parts[1] === undefined ? <List /> : <DashboardPage key={parts[1]} uid={parts[1]} />;
}

function List() {
  const mayWrite = useMay()('monitor:write');
  const dashboards = useList<Item>('/observability/dashboards', { every: 60_000 });
  const [shown, show] = useState<'add' | 'import'>();
  return (
    <>
      <Head title={text.title}>
        {mayWrite && (
          <>
            <Button onClick={() => show('import')}>{text.import}</Button>
            <Button kind="primary" icon="plus" onClick={() => show('add')}>
              {text.add}
            </Button>
          </>
        )}
      </Head>
      <Unsaved />
      <Table
        label={text.title}
        rows={dashboards.items}
        asked={dashboards}
        columns={columns}
        keyOf={({ uid }) => uid}
        hrefOf={({ uid }) => address(['dashboards', uid])}
        total={dashboards.total}
        more={dashboards.more}
        empty={<Empty title={text.none}>{text.noneNote}</Empty>}
      />
      {shown === 'add' && <Create known={dashboards.items ?? []} onClose={() => show(undefined)} />}
      {shown === 'import' && <Import onClose={() => show(undefined)} onDone={dashboards.reload} />}
    </>
  );
}

/** Begins a dashboard, which is saved with its first panel. */
function Create({
  known,
  onClose,
}: {
  readonly known: readonly Item[];
  readonly onClose: () => void;
}) {
  const [title, setTitle] = useState('');
  return (
    <Dialog title={text.add} onClose={onClose}>
      <Form
        submit={text.add}
        onCancel={onClose}
        disabled={title.trim() === ''}
        onSubmit={() => {
          goTo(address(['dashboards', freeUid(title, known)], { edit: 'on', title: title.trim() }));
          return Promise.resolve();
        }}
      >
        <TextField label={text.newName} value={title} onInput={setTitle} autoFocus required />
      </Form>
    </Dialog>
  );
}

const columns: readonly Column<Item>[] = [
  {
    head: text.name,
    cell: ({ title, problem }) =>
      problem === undefined ? (
        <span class="cut">{title}</span>
      ) : (
        <Status tone="critical">
          <span class="cut" title={problem}>
            {title}: {problem}
          </span>
        </Status>
      ),
  },
  {
    head: text.from,
    width: '130px',
    rank: 2,
    cell: ({ source }) => <span class="soft">{source === 'user' ? text.user : source}</span>,
  },
  {
    head: text.variables,
    width: '20%',
    rank: 1,
    cell: ({ variables }) => <span class="cut soft">{variables.join(', ')}</span>,
  },
  { head: text.panels, width: '80px', numeric: true, cell: ({ panels }) => panels },
];

interface Report {
  readonly uid: string;
  readonly title: string;
  readonly left_out: readonly {
    readonly kind: string;
    readonly title: string;
    readonly reason: string;
  }[];
}

function Import({
  onClose,
  onDone,
}: {
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const [json, setJson] = useState('');
  const [wrong, setWrong] = useState<string>();
  const [report, setReport] = useState<Report>();
  const send = async (): Promise<void> => {
    let body: unknown;
    try {
      body = JSON.parse(json);
      setWrong(undefined);
    } catch (error) {
      setWrong(
        say(text.notJson, { cause: error instanceof Error ? error.message : String(error) }),
      );
      return;
    }
    const made = await api.post<Report>('/monitor/dashboards/import', body);
    onDone();
    if (made.left_out.length === 0) {
      goTo(address(['dashboards', made.uid]));
    } else {
      setReport(made);
    }
  };
  return (
    <Dialog title={text.importTitle} onClose={onClose} wide>
      {report === undefined ? (
        <Form submit={text.import} onSubmit={send} onCancel={onClose}>
          <TextField
            label={text.json}
            hint={text.jsonHint}
            value={json}
            onInput={setJson}
            error={wrong}
            rows={12}
            mono
            autoFocus
          />
        </Form>
      ) : (
        <>
          <p>{say(text.leftOut, { title: report.title })}</p>
          <ul class="list tall">
            {report.left_out.map(({ kind, title, reason }) => (
              <li key={`${kind} ${title}`}>
                {kind} {title} <span class="soft">{reason}</span>
              </li>
            ))}
          </ul>
          <a class="button" href={address(['dashboards', report.uid])}>
            {text.open}
          </a>
        </>
      )}
    </Dialog>
  );
}
