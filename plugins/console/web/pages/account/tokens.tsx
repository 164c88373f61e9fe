import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useList } from '../../client/data.ts';
import { account as text } from '../../text/english/administration/account.ts';
import { attempt, Dialog } from '../../kit/dialog.tsx';
import { Form, SelectField, TextField } from '../../kit/form.tsx';
import { Button, Copyable, Empty, Section } from '../../kit/parts.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';

interface Token {
  readonly id: number;
  readonly name: string;
  readonly actions: readonly string[];
  readonly expires_at: string;
  readonly last_used_at: string | null;
}

export function Tokens() {
  const tokens = useList<Token>('/tokens');
  const [isCreating, setIsCreating] = useState(false);
  const revoke = (id: number): void =>
    void attempt(() => api.delete(`/tokens/${id}`)).then(tokens.reload);
  return (
    <Section title={text.tokens}>
      <p class="soft">{text.tokensNote}</p>
      <Table
        label={text.tokens}
        rows={tokens.items}
        asked={tokens}
        columns={columnsOf(revoke)}
        keyOf={({ id }) => id}
        total={tokens.total}
        more={tokens.more}
        empty={<Empty title={text.noTokens} />}
      />
      <Button icon="plus" onClick={() => setIsCreating(true)}>
        {text.create}
      </Button>
      {isCreating && (
        <NewToken
          onClose={() => {
            setIsCreating(false);
            tokens.reload();
          }}
        />
      )}
    </Section>
  );
}

const columnsOf = (revoke: (id: number) => void): readonly Column<Token>[] => [
  { head: text.purpose, cell: ({ name }) => <span class="cut">{name}</span> },
  {
    head: text.actions,
    rank: 1,
    cell: ({ actions }) => <code class="cut">{actions.join(', ')}</code>,
  },
  {
    head: text.used,
    width: '110px',
    rank: 2,
    cell: ({ last_used_at: at }) => (at === null ? text.never : <Time at={at} />),
  },
  { head: text.expires, width: '110px', cell: ({ expires_at: at }) => <Time at={at} /> },
  {
    head: text.revoke,
    width: '100px',
    cell: ({ id, name }) => (
      <Button kind="quiet" label={`${text.revoke} ${name}`} onClick={() => revoke(id)}>
        {text.revoke}
      </Button>
    ),
  },
];

const dayMs = 86_400_000;
const lifetimes = [
  ['30', text.month],
  ['90', text.quarter],
  ['365', text.year],
] as const;

/** Asks what a token is for, then shows it, the only time that it can be seen. */
function NewToken({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [actions, setActions] = useState('');
  const [days, setDays] = useState<(typeof lifetimes)[number][0]>('90');
  const [made, setMade] = useState<string>();
  const create = async (): Promise<void> => {
    const { token } = await api.post<{ readonly token: string }>('/tokens', {
      name,
      actions: actions.split(/[\s,]+/).filter((action) => action !== ''),
      // A minute less than the longest, for clocks that differ.
      expires_at: new Date(Date.now() + Number(days) * dayMs - 60_000).toISOString(),
    });
    setMade(token);
  };
  if (made !== undefined) {
    return (
      <Dialog title={text.made} onClose={onClose}>
        <p>{text.madeNote}</p>
        <Copyable value={made} />
        <div class="buttons">
          <Button kind="primary" onClick={onClose}>
            {text.done}
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={text.create} onClose={onClose}>
      <Form submit={text.create} onSubmit={create} onCancel={onClose} disabled={name === ''}>
        <TextField
          label={text.purpose}
          value={name}
          onInput={setName}
          hint={text.purposeHint}
          required
          autoFocus
        />
        <TextField
          label={text.actions}
          value={actions}
          onInput={setActions}
          hint={text.actionsHint}
        />
        <SelectField label={text.days} value={days} options={lifetimes} onChange={setDays} />
      </Form>
    </Dialog>
  );
}
