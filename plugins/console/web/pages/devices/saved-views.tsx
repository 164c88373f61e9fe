import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useData } from '../../client/data.ts';
import { address, usePlace } from '../../browser/location.ts';
import { savedViews as text } from '../../text/english/watch/devices.ts';
import { say } from '../../text/words.ts';
import { attempt, Dialog } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { Button } from '../../kit/parts.tsx';

interface View {
  readonly id: number;
  readonly name: string;
  readonly query: string;
}

/** The views that the reader has saved; the address of one shows the same to everybody who opens it. */
export function SavedViews() {
  const { query } = usePlace();
  const { value, reload } = useData<{ readonly views: readonly View[] }>('/devices/views');
  const [isSaving, setSaving] = useState(false);
  const now = query.toString();
  const views = value?.views ?? [];
  const shown = views.find((view) => view.query === now);
  const remove = ({ id, name }: View): void =>
    void attempt(() => api.delete(`/devices/views/${id}`), say(text.removed, { name })).then(
      (done) => done && reload(),
    );
  return (
    <nav class="saved-views" aria-label={text.title}>
      {views.map((view) => (
        <a
          key={view.id}
          class="saved-view"
          href={`${address(['devices'])}${view.query === '' ? '' : `?${view.query}`}`}
          aria-current={view === shown ? 'page' : undefined}
        >
          {view.name}
        </a>
      ))}
      {shown !== undefined ? (
        <Button
          kind="quiet"
          icon="trash"
          label={say(text.remove, { name: shown.name })}
          onClick={() => remove(shown)}
        />
      ) : (
        now !== '' && (
          <Button kind="quiet" icon="plus" onClick={() => setSaving(true)}>
            {text.save}
          </Button>
        )
      )}
      {isSaving && (
        <Save
          query={now}
          known={views.map(({ name }) => name)}
          onClose={() => setSaving(false)}
          onDone={() => {
            setSaving(false);
            reload();
          }}
        />
      )}
    </nav>
  );
}

interface SaveProps {
  readonly query: string;
  readonly known: readonly string[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function Save({ query, known, onClose, onDone }: SaveProps) {
  const [name, setName] = useState('');
  const isKnown = known.includes(name.trim());
  return (
    <Dialog title={text.save} onClose={onClose}>
      <Form
        submit={isKnown ? text.replace : text.submit}
        onCancel={onClose}
        disabled={name.trim() === ''}
        onSubmit={async () => {
          await api.post('/devices/views', { name: name.trim(), query });
          onDone();
        }}
      >
        <TextField
          label={text.name}
          hint={isKnown ? text.known : text.hint}
          value={name}
          onInput={setName}
          autoFocus
          required
        />
      </Form>
    </Dialog>
  );
}
