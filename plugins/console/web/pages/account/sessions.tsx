import { api } from '../../client/api.ts';
import { useList } from '../../client/data.ts';
import { signOut } from '../../client/session.ts';
import { account as text } from '../../text/english/administration/account.ts';
import { attempt } from '../../kit/dialog.tsx';
import { Button, Empty, Section } from '../../kit/parts.tsx';
import { Tag } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';

interface Session {
  readonly id: string;
  readonly ip: string;
  readonly user_agent: string;
  readonly current: boolean;
  readonly created_at: string;
  readonly last_used_at: string;
}

export function Sessions() {
  const sessions = useList<Session>('/sessions');
  const end = (id: string): void =>
    void attempt(() => api.delete(`/sessions/${id}`)).then(sessions.reload);
  const endAll = (): void =>
    void attempt(() => api.post('/auth/logout-all')).then((done) => done && attempt(signOut));
  return (
    <Section title={text.sessions}>
      <Table
        label={text.sessions}
        rows={sessions.items}
        asked={sessions}
        columns={columnsOf(end)}
        keyOf={({ id }) => id}
        total={sessions.total}
        more={sessions.more}
        empty={<Empty title={text.noSessions} />}
      />
      <Button onClick={endAll}>{text.endAll}</Button>
    </Section>
  );
}

const columnsOf = (end: (id: string) => void): readonly Column<Session>[] => [
  {
    head: text.from,
    cell: ({ ip, user_agent: program, current }) => (
      <span class="cut">
        {ip} <span class="soft">{program}</span> {current && <Tag>{text.here}</Tag>}
      </span>
    ),
  },
  { head: text.since, width: '110px', rank: 2, cell: ({ created_at: at }) => <Time at={at} /> },
  { head: text.used, width: '110px', cell: ({ last_used_at: at }) => <Time at={at} /> },
  {
    head: text.end,
    width: '90px',
    cell: ({ id, ip, current }) =>
      !current && (
        <Button kind="quiet" label={`${text.end} ${ip}`} onClick={() => end(id)}>
          {text.end}
        </Button>
      ),
  },
];
