import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { incidentDialogs as text } from '../../text/english/watch/incidents.ts';
import { Dialog, tell } from '../../kit/dialog.tsx';
import { Field, Form, Segments, TextField } from '../../kit/form.tsx';

const spans = ['15m', '1h', '4h', '24h', '72h'] as const;

/** Mutes one incident for a while. */
export function SilenceDialog({
  id,
  onClose,
}: {
  readonly id: number;
  readonly onClose: () => void;
}) {
  const [span, setSpan] = useState<(typeof spans)[number]>('1h');
  const [reason, setReason] = useState('');
  const submit = async (): Promise<void> => {
    await api.post(`/alerts/incidents/${id}/silence`, {
      duration: span,
      ...(reason.trim() !== '' && { reason }),
    });
    tell(text.silenced);
    onClose();
  };
  return (
    <Dialog title={text.silenceTitle} onClose={onClose}>
      <Form submit={text.silence} onSubmit={submit} onCancel={onClose}>
        <p class="soft">{text.silenceNote}</p>
        <Field label={text.howLong}>
          {() => (
            <Segments
              label={text.howLong}
              value={span}
              options={spans.map((one) => [one, one])}
              onChange={setSpan}
            />
          )}
        </Field>
        <TextField label={text.reason} value={reason} onInput={setReason} />
      </Form>
    </Dialog>
  );
}

/** Adds what somebody knows to the timeline. */
export function NoteDialog({ id, onClose }: { readonly id: number; readonly onClose: () => void }) {
  const [note, setNote] = useState('');
  const submit = async (): Promise<void> => {
    await api.post(`/alerts/incidents/${id}/notes`, { text: note });
    tell(text.added);
    onClose();
  };
  return (
    <Dialog title={text.noteTitle} onClose={onClose}>
      <Form submit={text.add} onSubmit={submit} onCancel={onClose} disabled={note.trim() === ''}>
        <TextField
          label={text.note}
          value={note}
          onInput={setNote}
          rows={4}
          hint={text.noteHint}
          autoFocus
        />
      </Form>
    </Dialog>
  );
}
