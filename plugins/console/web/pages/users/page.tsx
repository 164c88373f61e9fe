import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useList } from '../../client/data.ts';
import { address, usePlace } from '../../browser/location.ts';
import { users as text } from '../../text/english/administration/users.ts';
import { say } from '../../text/words.ts';
import { attempt, Dialog } from '../../kit/dialog.tsx';
import { Form, SelectField, TextField } from '../../kit/form.tsx';
import { Button, Empty, Head, Tabs } from '../../kit/parts.tsx';
import { Status, Tag } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { Organizations } from './organizations.tsx';
import { WhoMay } from './who-may.tsx';

interface User {
  readonly id: number;
  readonly email: string;
  readonly display_name: string;
  readonly role: string;
  readonly status: 'active' | 'disabled';
  readonly last_login_at: string | null;
}

interface Role {
  readonly name: string;
  readonly description: string;
  readonly grants: readonly string[];
  readonly builtin: boolean;
}

export default function Users() {
  const { parts } = usePlace();
  const isAdmin = useMay()('*');
  const shows =
    parts[1] === 'roles' || parts[1] === 'organizations' || parts[1] === 'may' ? parts[1] : 'users';
  const [edited, setEdited] = useState<User | 'new'>();
  return (
    <>
      <Head title={text.title}>
        {isAdmin && (
          <Button kind="primary" icon="plus" onClick={() => setEdited('new')}>
            {text.add}
          </Button>
        )}
      </Head>
      <Tabs
        tabs={[
          { id: 'users', title: text.users, href: address(['users']) },
          { id: 'roles', title: text.roles, href: address(['users', 'roles']) },
          ...(isAdmin
            ? [
                {
                  id: 'organizations',
                  title: text.organizations,
                  href: address(['users', 'organizations']),
                },
                { id: 'may', title: text.may, href: address(['users', 'may']) },
              ]
            : []),
        ]}
        active={shows}
      />
      {shows === 'may' ? (
        <WhoMay />
      ) : shows === 'organizations' ? (
        <Organizations />
      ) : shows === 'roles' ? (
        <Roles />
      ) : (
        <People onPick={isAdmin ? setEdited : undefined} />
      )}
      {edited !== undefined && (
        <Edited
          key={edited === 'new' ? 0 : edited.id}
          user={edited}
          onClose={() => setEdited(undefined)}
        />
      )}
    </>
  );
}

function People({ onPick }: { readonly onPick: ((user: User) => void) | undefined }) {
  const users = useList<User>('/users', { kinds: ['users'] });
  return (
    <>
      <Table
        label={text.users}
        rows={users.items}
        asked={users}
        columns={userColumns}
        keyOf={({ id }) => id}
        onPick={onPick}
        total={users.total}
        more={users.more}
        empty={<Empty title={text.none} />}
      />
    </>
  );
}

const userColumns: readonly Column<User>[] = [
  {
    head: text.name,
    cell: ({ display_name: name, email }) => (
      <span class="cut">
        {name} <span class="soft">{email}</span>
      </span>
    ),
  },
  { head: text.role, width: '140px', cell: ({ role }) => role },
  {
    head: text.state,
    width: '120px',
    rank: 2,
    cell: ({ status }) => (
      <Status tone={status === 'active' ? 'ok' : 'muted'}>{text[status]}</Status>
    ),
  },
  { head: text.last, width: '120px', rank: 1, cell: ({ last_login_at: at }) => <Time at={at} /> },
];

function Roles() {
  const roles = useList<Role>('/roles', { kinds: ['roles'] });
  return (
    <>
      <Table
        label={text.roles}
        rows={roles.items}
        asked={roles}
        columns={roleColumns}
        keyOf={({ name }) => name}
        empty={<Empty title={text.noRoles} />}
      />
    </>
  );
}

const roleColumns: readonly Column<Role>[] = [
  {
    head: text.role,
    width: '180px',
    cell: ({ name, builtin }) => (
      <span>
        {name} {builtin && <Tag>{text.builtin}</Tag>}
      </span>
    ),
  },
  {
    head: text.about,
    rank: 1,
    cell: ({ description }) => <span class="cut soft">{description}</span>,
  },
  {
    head: text.grants,
    cell: ({ grants }) => (
      <code class="cut" title={grants.join('\n')}>
        {grants.join(', ')}
      </code>
    ),
  },
];

function Edited({ user, onClose }: { readonly user: User | 'new'; readonly onClose: () => void }) {
  const old = user === 'new' ? undefined : user;
  const roles = useList<Role>('/roles', { kinds: ['roles'] });
  const [name, setName] = useState(old?.display_name ?? '');
  const [email, setEmail] = useState(old?.email ?? '');
  const [password, setPassword] = useState('');
  const [role, setRole] = useState(old?.role ?? 'viewer');
  const save = async (): Promise<void> => {
    if (old === undefined) {
      await api.post('/users', { email, password, display_name: name, role });
    } else {
      await api.patch(`/users/${old.id}`, { email, display_name: name });
      if (role !== old.role) {
        await api.patch(`/users/${old.id}/role`, { role });
      }
      if (password !== '') {
        await api.patch(`/users/${old.id}/password`, { password });
      }
    }
    onClose();
  };
  const turn = (): void =>
    void attempt(() =>
      api.patch(`/users/${old!.id}`, { status: old!.status === 'active' ? 'disabled' : 'active' }),
    ).then((done) => done && onClose());
  return (
    <Dialog
      title={old === undefined ? text.add : say(text.edit, { name: old.display_name })}
      onClose={onClose}
    >
      <Form onSubmit={save} onCancel={onClose}>
        <TextField label={text.name} value={name} onInput={setName} required autoFocus />
        <TextField label={text.email} value={email} onInput={setEmail} type="email" required />
        <TextField
          label={text.password}
          value={password}
          onInput={setPassword}
          type="password"
          autoComplete="new-password"
          hint={text.passwordHint}
          required={old === undefined}
        />
        <SelectField
          label={text.role}
          value={role}
          options={namesOf(roles.items, role)}
          onChange={setRole}
        />
      </Form>
      {old && (
        <Button onClick={turn}>{old.status === 'active' ? text.disable : text.enable}</Button>
      )}
    </Dialog>
  );
}

const namesOf = (
  roles: readonly Role[] | undefined,
  own: string,
): readonly (readonly [string, string])[] =>
  [...new Set([...(roles ?? []).map(({ name }) => name), own])].map(
    (name) => [name, name] as const,
  );
