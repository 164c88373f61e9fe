import { useState } from 'preact/hooks';

import { api, type Page } from '../../client/api.ts';
import { useData, useList } from '../../client/data.ts';
import { organizations as text } from '../../text/english/administration/users.ts';
import { count, say } from '../../text/words.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { Button, Empty } from '../../kit/parts.tsx';
import { type Column, Table } from '../../kit/table.tsx';

interface Organization {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly device_selector: string | null;
}

/** Organizations with their members, and the devices they see; for administrators. */
export function Organizations() {
  const orgs = useList<Organization>('/orgs', { kinds: ['users'] });
  const [edited, setEdited] = useState<Organization | 'new'>();
  const close = (): void => {
    setEdited(undefined);
    orgs.reload();
  };
  return (
    <>
      <Button icon="plus" onClick={() => setEdited('new')}>
        {text.add}
      </Button>
      <Table
        label={text.title}
        rows={orgs.items}
        asked={orgs}
        columns={columns}
        keyOf={({ id }) => id}
        onPick={setEdited}
        total={orgs.total}
        more={orgs.more}
        empty={<Empty title={text.none}>{text.noneNote}</Empty>}
      />
      {edited !== undefined && (
        <Edited
          key={edited === 'new' ? 0 : edited.id}
          org={edited === 'new' ? undefined : edited}
          onClose={close}
        />
      )}
    </>
  );
}

const columns: readonly Column<Organization>[] = [
  { head: text.name, width: '24%', cell: ({ name }) => <span class="cut">{name}</span> },
  {
    head: text.about,
    rank: 1,
    cell: ({ description }) => <span class="cut soft">{description}</span>,
  },
  {
    head: text.sees,
    cell: ({ device_selector: selector }) =>
      selector === null ? (
        <span class="soft">{text.all}</span>
      ) : (
        <code class="cut">{selector}</code>
      ),
  },
];

function Edited({
  org,
  onClose,
}: {
  readonly org: Organization | undefined;
  readonly onClose: () => void;
}) {
  const [name, setName] = useState(org?.name ?? '');
  const [about, setAbout] = useState(org?.description ?? '');
  const [selector, setSelector] = useState(org?.device_selector ?? '');
  const save = async (): Promise<void> => {
    const draft = { name, description: about, device_selector: termsOf(selector).join(',') || '*' };
    await (org === undefined ? api.post('/orgs', draft) : api.patch(`/orgs/${org.id}`, draft));
    onClose();
  };
  return (
    <Dialog
      title={org === undefined ? text.add : say(text.edit, { name: org.name })}
      onClose={onClose}
    >
      <Form onSubmit={save} onCancel={onClose}>
        <TextField label={text.name} value={name} onInput={setName} required autoFocus />
        <TextField label={text.about} value={about} onInput={setAbout} />
        <TextField
          label={text.selector}
          value={selector}
          onInput={setSelector}
          hint={text.selectorHint}
          mono
        />
        <Kept terms={termsOf(selector)} />
      </Form>
    </Dialog>
  );
}

const termsOf = (selector: string): readonly string[] =>
  selector
    .split(',')
    .map((term) => term.trim())
    .filter((term) => term !== '' && term !== '*');

/** Number of devices that a selector matches, updated while typing. */
function Kept({ terms }: { readonly terms: readonly string[] }) {
  const isRole = (term: string): boolean => term.startsWith('role:');
  const query = {
    tag: terms.filter((term) => !isRole(term)),
    role: terms.filter(isRole).map((term) => term.slice('role:'.length)),
    limit: 1,
  };
  const all = useData<Page<unknown>>('/devices', { query: { limit: 1 }, kinds: ['devices'] });
  const fitting = useData<Page<unknown>>('/devices', { query, kinds: ['devices'] });
  const [total, kept] = [all.value?.total, fitting.value?.total];
  const said =
    fitting.error?.message ??
    (total === undefined || kept === undefined
      ? text.counting
      : terms.length === 0
        ? say(text.keepsAll, { total })
        : kept === 0
          ? say(text.keepsNone, { total })
          : say(count(text.keeps, total), { kept }));
  return (
    <p class="hint" role="status">
      {said}
    </p>
  );
}
