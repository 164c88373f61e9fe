import { useData, useList } from '../../client/data.ts';
import { useParam } from '../../browser/location.ts';
import { whoMay as text } from '../../text/english/administration/users.ts';
import { Field } from '../../kit/form.tsx';
import { Empty, Refused } from '../../kit/parts.tsx';
import { Status } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';

interface Action {
  readonly action: string;
  readonly description: string;
  readonly plugin: string;
}

interface Explained {
  readonly user_id: number;
  readonly email: string;
  readonly display_name: string;
  readonly role: string;
  readonly allowed: boolean;
  readonly reason: string;
}

/** Users who may perform an action, with the grant that allows it; for one person, also why not. */
export function WhoMay() {
  const [action, setAction] = useParam('action');
  const [person, setPerson] = useParam('user');
  const actions = useData<{ readonly items: readonly Action[] }>('/policy/actions', {
    query: { limit: 200 },
    kinds: ['plugins'],
  });
  const users = useData<{ readonly items: readonly Explained[] }>('/policy/explain', {
    query: { action: 'any', limit: 200 },
    kinds: ['users'],
  });
  const chosen = actions.value?.items.find((one) => one.action === action);
  return (
    <>
      <div class="field-row">
        <Field label={text.action} hint={chosen?.description ?? text.actionHint}>
          {(ids) => (
            <select
              {...ids}
              value={action}
              onChange={(event) => setAction(event.currentTarget.value)}
            >
              <option value="" selected={action === ''} />
              {actions.value?.items.map((one) => (
                <option key={one.action} value={one.action} selected={one.action === action}>
                  {one.action}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={text.person}>
          {(ids) => (
            <select
              {...ids}
              value={person}
              onChange={(event) => setPerson(event.currentTarget.value)}
            >
              <option value="" selected={person === ''}>
                {text.everyone}
              </option>
              {users.value?.items.map((one) => (
                <option
                  key={one.user_id}
                  value={String(one.user_id)}
                  selected={String(one.user_id) === person}
                >
                  {one.display_name}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      {action === '' ? (
        <Empty title={text.choose}>{text.chooseNote}</Empty>
      ) : (
        <Verdicts action={action} person={person} />
      )}
    </>
  );
}

function Verdicts({ action, person }: { readonly action: string; readonly person: string }) {
  const verdicts = useList<Explained>('/policy/explain', {
    query: { action, user_id: person },
    kinds: ['users', 'roles'],
  });
  return verdicts.error ? (
    <Refused error={verdicts.error} retry={verdicts.reload} />
  ) : (
    <Table
      label={text.verdict}
      rows={verdicts.items}
      columns={columns}
      keyOf={({ user_id: id }) => id}
      total={verdicts.total}
      more={verdicts.more}
      empty={<Empty title={text.none} />}
    />
  );
}

const columns: readonly Column<Explained>[] = [
  {
    head: text.person,
    cell: ({ display_name: name, email }) => (
      <span class="cut">
        {name} <span class="soft">{email}</span>
      </span>
    ),
  },
  {
    head: text.verdict,
    width: '110px',
    cell: ({ allowed }) => (
      <Status tone={allowed ? 'ok' : 'muted'}>{allowed ? text.may : text.mayNot}</Status>
    ),
  },
  { head: text.role, width: '120px', rank: 2, cell: ({ role }) => role },
  {
    head: text.why,
    rank: 1,
    cell: ({ reason }) => (
      <span class="cut soft" title={reason}>
        {reason}
      </span>
    ),
  },
];
