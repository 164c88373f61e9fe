import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useList } from '../../client/data.ts';
import { registries as text } from '../../text/english/administration/packs.ts';
import { attempt, Dialog } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { Button, Empty, Section } from '../../kit/parts.tsx';
import { Status } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';

interface Registry {
  readonly name: string;
  readonly url: string;
  readonly packs: number;
  readonly signed: boolean;
  readonly error: string | null;
  readonly refreshed_at: string | null;
}

/** Registries that packs come from. */
export function Registries() {
  const may = useMay()('*');
  const [isNew, setNew] = useState(false);
  const registries = useList<Registry>('/marketplace/registries', { every: 30_000 });
  const ask = (work: () => Promise<unknown>, done: string): void =>
    void attempt(work, done).then(registries.reload);
  const path = (name: string): string => `/marketplace/registries/${encodeURIComponent(name)}`;
  const registryColumns: readonly Column<Registry>[] = [
    {
      head: text.name,
      cell: ({ name, url, error }) => (
        <Status tone={error === null ? 'ok' : 'critical'}>
          <span class="cut">
            {name} <span class="soft">{error ?? url}</span>
          </span>
        </Status>
      ),
    },
    { head: text.packs, width: '80px', numeric: true, cell: ({ packs }) => packs },
    {
      head: text.signed,
      width: '100px',
      rank: 1,
      cell: ({ signed }) => (signed ? text.signed : text.unsigned),
    },
    { head: text.at, width: '110px', rank: 1, cell: ({ refreshed_at: at }) => <Time at={at} /> },
    {
      head: text.refresh,
      width: '190px',
      rank: 2,
      cell: ({ name }) =>
        may ? (
          <>
            <Button onClick={() => ask(() => api.post(`${path(name)}/refresh`), text.refreshed)}>
              {text.refresh}
            </Button>{' '}
            <Button onClick={() => ask(() => api.delete(path(name)), text.deleted)}>
              {text.delete}
            </Button>
          </>
        ) : null,
    },
  ];
  return (
    <Section
      title={text.registries}
      aside={may && <Button onClick={() => setNew(true)}>{text.add}</Button>}
    >
      <Table
        label={text.registries}
        rows={registries.items}
        asked={registries}
        columns={registryColumns}
        keyOf={({ name }) => name}
        empty={<Empty title={text.noRegistries}>{text.noRegistriesNote}</Empty>}
      />
      {isNew && <NewRegistry onClose={() => setNew(false)} onDone={registries.reload} />}
    </Section>
  );
}

function NewRegistry({
  onClose,
  onDone,
}: {
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [key, setKey] = useState('');
  const save = async (): Promise<void> => {
    await api.post('/marketplace/registries', {
      name,
      url,
      ...(key !== '' && { public_key: key }),
    });
    onDone();
    onClose();
  };
  return (
    <Dialog title={text.add} onClose={onClose}>
      <Form onSubmit={save} onCancel={onClose}>
        <TextField label={text.name} value={name} onInput={setName} required autoFocus />
        <TextField label={text.address} value={url} onInput={setUrl} mono required />
        <TextField label={text.key} value={key} onInput={setKey} mono />
      </Form>
    </Dialog>
  );
}
