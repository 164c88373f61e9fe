import { useState } from 'preact/hooks';

import { address } from '../../browser/location.ts';
import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useData } from '../../client/data.ts';
import { attempt, Dialog } from '../../kit/dialog.tsx';
import { Form, SelectField, TextField } from '../../kit/form.tsx';
import { Markdown } from '../../kit/markdown.tsx';
import { Awaited, Button, Empty, Head } from '../../kit/parts.tsx';
import { Time } from '../../kit/time.tsx';
import { keep as text } from '../../text/english/act/keep.ts';
import { say } from '../../text/words.ts';
import { Calls } from './calls.tsx';
import type { Call } from './run.ts';

interface AnswerProps {
  readonly session: string;
  readonly message: number;
  readonly incident: number | undefined;
}

/** Buttons of an answer: save it, and share it by a link. */
export function Keep(answer: AnswerProps) {
  const [isSaving, setSaving] = useState(false);
  const [link, setLink] = useState<string>();
  const share = async (): Promise<void> => {
    const path = `/chat/sessions/${encodeURIComponent(answer.session)}/share`;
    setLink((await api.post<{ link: string }>(path, { message_id: answer.message })).link);
  };
  return (
    <p class="said-tools">
      <Button kind="quiet" onClick={() => setSaving(true)}>
        {text.save}
      </Button>{' '}
      {link === undefined ? (
        <Button kind="quiet" icon="link" onClick={() => void attempt(share)}>
          {text.share}
        </Button>
      ) : (
        <span class="soft">
          {text.shared} <a href={new URL(link).pathname}>{link}</a>
        </span>
      )}
      {isSaving && <Save {...answer} onClose={() => setSaving(false)} />}
    </p>
  );
}

const kinds = ['note', 'document', 'investigation'] as const;

interface Kept {
  readonly incident_id: number | null;
  readonly path: string | null;
}

function Save({
  session,
  message,
  incident: related,
  onClose,
}: AnswerProps & { readonly onClose: () => void }) {
  const may = useMay();
  const [as, setAs] = useState<(typeof kinds)[number]>(related === undefined ? 'document' : 'note');
  const [incident, setIncident] = useState(String(related ?? ''));
  const [path, setPath] = useState('notes/answer.md');
  const [kept, setKept] = useState<Kept>();
  const save = async (): Promise<void> =>
    setKept(
      await api.post<Kept>(`/chat/sessions/${encodeURIComponent(session)}/save`, {
        as,
        message_id: message,
        ...(as === 'document' ? { path } : { incident_id: Number(incident) }),
      }),
    );
  return (
    <Dialog title={text.save} onClose={onClose}>
      {kept === undefined ? (
        <Form
          submit={text.save}
          onSubmit={save}
          onCancel={onClose}
          disabled={as === 'document' ? path.trim() === '' : !/^[1-9]\d*$/.test(incident)}
        >
          <SelectField
            label={text.as}
            value={as}
            options={kinds
              .filter((kind) => kind !== 'document' || may('knowledge:create'))
              .map((kind) => [kind, text[kind]] as const)}
            onChange={setAs}
          />
          {as === 'document' ? (
            <TextField label={text.path} value={path} onInput={setPath} mono />
          ) : (
            <TextField
              label={text.incident}
              value={incident}
              onInput={setIncident}
              type="number"
              hint={as === 'investigation' ? text.investigationHint : undefined}
            />
          )}
        </Form>
      ) : (
        <p role="status">
          {text.saved}{' '}
          {kept.path === null ? (
            <a href={address(['incidents', kept.incident_id!])}>
              {say(text.incidentLink, { id: kept.incident_id! })}
            </a>
          ) : (
            <a href={address(['knowledge'], { read: kept.path })}>{kept.path}</a>
          )}
        </p>
      )}
    </Dialog>
  );
}

interface Shared {
  readonly share: { readonly shared_by: string; readonly expires_at: string };
  readonly question: string;
  readonly answer: {
    readonly content: string;
    readonly agent: string | null;
    readonly tool_calls: readonly Call[];
    readonly created_at: string;
  };
}

/** `/ui/chat/shared/<id>`: an answer that a colleague has shared. */
export function SharedAnswer({ id }: { readonly id: string | undefined }) {
  const { value, error } = useData<Shared>(
    id === undefined ? undefined : `/chat/shared/${encodeURIComponent(id)}`,
  );
  return (
    <>
      <Head
        title={text.sharedTitle}
        note={value && say(text.sharedBy, { who: value.share.shared_by })}
      />
      {id === undefined ? (
        <Empty title={text.noLink} />
      ) : value === undefined ? (
        <Awaited error={error} lines={8} />
      ) : (
        <div class="chat-log">
          <article class="said said-user">
            <p class="plain">{value.question}</p>
          </article>
          <article class="said said-assistant">
            <header class="soft">
              {value.answer.agent} · <Time at={value.answer.created_at} />
            </header>
            <Calls of={value.answer.tool_calls} />
            <Markdown text={value.answer.content} />
          </article>
        </div>
      )}
    </>
  );
}
