import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { askAgain } from '../../client/live.ts';
import { onward as text } from '../../text/english/onward.ts';
import { fullMoment } from '../../text/format.ts';
import { Dialog, tell } from '../dialog.tsx';
import { Form, TextField } from '../form.tsx';

interface NoteProps {
  /** Moment of the note, in seconds. */
  readonly at: number;
  /** Host that the note is about, if the chart is about one. */
  readonly device: string | undefined;
  readonly onClose: () => void;
}

/** Leaves a note at a moment, which charts of its time then show. */
export function Note({ at, device, onClose }: NoteProps) {
  const [words, setWords] = useState('');
  const save = async (): Promise<void> => {
    await api.post('/changes', {
      kind: 'note',
      summary: words.trim(),
      at: new Date(Math.min(at * 1000, Date.now())).toISOString(),
      ...(device !== undefined && { device_id: Number(device) }),
    });
    askAgain();
    tell(text.noted);
    onClose();
  };
  return (
    <Dialog title={text.note} onClose={onClose}>
      <Form onSubmit={save} onCancel={onClose} disabled={words.trim() === ''}>
        <TextField
          label={text.noteText}
          hint={fullMoment(at * 1000)}
          value={words}
          onInput={setWords}
          autoFocus
          required
        />
      </Form>
    </Dialog>
  );
}
