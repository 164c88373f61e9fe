import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useList } from '../../client/data.ts';
import { stores as text } from '../../text/english/administration/stores.ts';
import { say } from '../../text/words.ts';
import { attempt, Dialog, tell } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { Button, Empty, Head } from '../../kit/parts.tsx';
import { Status, type Tone } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { Hosts, type StorePreview } from './hosts.tsx';

interface Store {
  readonly name: string;
  readonly url: string;
  readonly state: 'ok' | 'failing' | 'waiting';
  readonly detail: string;
  readonly hosts: number;
  readonly series: number;
  readonly read_at: string | null;
}

const tones: Readonly<Record<Store['state'], Tone>> = {
  ok: 'ok',
  failing: 'critical',
  waiting: 'info',
};

/** Servers elsewhere whose hosts are devices. */
export default function Stores() {
  const may = useMay()('store:connect');
  const [isNew, setNew] = useState(false);
  const [shown, setShown] = useState<string>();
  const stores = useList<Store>('/connected-stores', { every: 10_000 });
  return (
    <>
      <Head title={text.title} note={text.note}>
        {may && (
          <Button icon="plus" onClick={() => setNew(true)}>
            {text.connect}
          </Button>
        )}
      </Head>
      <Table
        label={text.title}
        rows={stores.items}
        asked={stores}
        columns={columns}
        keyOf={({ name }) => name}
        onPick={may ? ({ name }) => setShown(name) : undefined}
        empty={<Empty title={text.empty}>{text.emptyNote}</Empty>}
      />
      {isNew && <NewStore onClose={() => setNew(false)} onDone={stores.reload} />}
      {shown !== undefined && (
        <ShownStore
          key={shown}
          name={shown}
          onClose={() => setShown(undefined)}
          onDone={stores.reload}
        />
      )}
    </>
  );
}

const columns: readonly Column<Store>[] = [
  {
    head: text.name,
    cell: ({ name, url, state, detail }) => (
      <Status tone={tones[state]}>
        <span class="cut">
          {name} <span class={state === 'failing' ? 'critical' : 'soft'}>{detail || url}</span>
        </span>
      </Status>
    ),
  },
  { head: text.hosts, width: '80px', numeric: true, cell: ({ hosts }) => hosts },
  { head: text.series, width: '90px', numeric: true, rank: 1, cell: ({ series }) => series },
  { head: text.read, width: '110px', rank: 1, cell: ({ read_at: at }) => <Time at={at} /> },
];

interface DialogParts {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Asks the store now which hosts it has; its owner may disconnect it here. */
function ShownStore({ name, onClose, onDone }: DialogParts & { readonly name: string }) {
  const [preview, setPreview] = useState<StorePreview>();
  const path = `/connected-stores/${encodeURIComponent(name)}`;
  const look = async (): Promise<void> =>
    setPreview(await api.post<StorePreview>(`${path}/preview`, {}));
  const disconnect = (): void =>
    void attempt(() => api.delete(path), text.disconnected).then(() => {
      onDone();
      onClose();
    });
  return (
    <Dialog title={say(text.previewOf, { name })} onClose={onClose}>
      {preview && <Hosts preview={preview} />}
      <div class="buttons">
        <Button onClick={() => void attempt(look)}>{text.preview}</Button>
        <Button onClick={disconnect}>{text.disconnect}</Button>
      </div>
    </Dialog>
  );
}

function NewStore({ onClose, onDone }: DialogParts) {
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [token, setToken] = useState('');
  const [user, setUser] = useState('');
  const [password, setPassword] = useState('');
  const [label, setLabel] = useState('');
  const [regex, setRegex] = useState('');
  const [template, setTemplate] = useState('');
  const [preview, setPreview] = useState<StorePreview>();
  const draft = {
    url,
    ...given({ token, user, password }),
    ...(label !== '' && { host_rules: [{ label, ...given({ regex, template }) }] }),
  };
  const look = async (): Promise<void> =>
    setPreview(await api.post<StorePreview>('/connected-stores/preview', draft));
  const connect = async (): Promise<void> => {
    await api.post('/connected-stores', { name, ...draft, history: '1d' });
    tell(text.connected);
    onDone();
    onClose();
  };
  return (
    <Dialog title={text.connect} onClose={onClose}>
      <Form submit={text.connect} onSubmit={connect} onCancel={onClose}>
        <TextField
          label={text.name}
          value={name}
          onInput={setName}
          hint={text.nameHint}
          required
          autoFocus
        />
        <TextField
          label={text.address}
          value={url}
          onInput={setUrl}
          hint={text.addressHint}
          mono
          required
        />
        <TextField label={text.token} value={token} onInput={setToken} type="password" />
        <TextField label={text.user} value={user} onInput={setUser} />
        <TextField label={text.password} value={password} onInput={setPassword} type="password" />
        <TextField label={text.label} value={label} onInput={setLabel} hint={text.labelHint} mono />
        {label !== '' && (
          <>
            <TextField label={text.regex} value={regex} onInput={setRegex} mono />
            <TextField label={text.template} value={template} onInput={setTemplate} mono />
          </>
        )}
        <Button onClick={() => void attempt(look)}>{text.preview}</Button>
        {preview && <Hosts preview={preview} />}
      </Form>
    </Dialog>
  );
}

/** Fields that are filled in. */
const given = (fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
