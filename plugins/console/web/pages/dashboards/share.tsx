import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useList } from '../../client/data.ts';
import { below } from '../../browser/base.ts';
import { share as text } from '../../text/english/watch/shared.ts';
import { say } from '../../text/words.ts';
import { attempt, Dialog } from '../../kit/dialog.tsx';
import { Form, SelectField, TextField } from '../../kit/form.tsx';
import { Awaited, Button, Copyable } from '../../kit/parts.tsx';
import { Time } from '../../kit/time.tsx';

interface Link {
  readonly id: number;
  readonly note: string;
  readonly made_by: string;
  readonly expires_at: string;
  readonly opened_at: string | null;
}

interface ShareProps {
  readonly uid: string;
  readonly title: string;
  /** Length of the time range that is shown, in seconds. */
  readonly range: number;
  /** Values of variables that are chosen. */
  readonly variables: Readonly<Record<string, readonly string[]>>;
  readonly onClose: () => void;
}

const ends = [
  ['3600', text.hour],
  ['86400', text.day],
  ['604800', text.week],
  ['2592000', text.month],
  ['7776000', text.quarter],
] as const;
const longest = 7_776_000;

/** Links that show a dashboard without an account: makes one, and lists and revokes those that there are. */
export function Share({ uid, title, range, variables, onClose }: ShareProps) {
  const links = useList<Link>('/monitor/links', { query: { dashboard_uid: uid } });
  const [expires, setExpires] = useState<string>('604800');
  const [note, setNote] = useState('');
  const [made, setMade] = useState<string>();
  const make = async (): Promise<void> => {
    const { path } = await api.post<{ readonly path: string }>(
      `/monitor/dashboards/${encodeURIComponent(uid)}/links`,
      {
        expires_in_s: Number(expires),
        range_s: Math.min(longest, Math.max(60, Math.round(range))),
        note: note.trim(),
        variables,
      },
    );
    setMade(location.origin + below(path));
    links.reload();
  };
  return (
    <Dialog title={say(text.title, { title })} onClose={onClose} wide>
      <p class="soft">{text.note}</p>
      <div class="board-part">
        <Form submit={text.make} onSubmit={make}>
          <div class="field-row">
            <SelectField
              label={text.expires}
              value={expires}
              options={ends}
              onChange={setExpires}
            />
            <TextField label={text.whom} value={note} onInput={setNote} />
          </div>
        </Form>
      </div>
      {made !== undefined && (
        <div role="status" class="board-part">
          <p>{text.made}</p>
          <Copyable value={made} />
        </div>
      )}
      <h3 class="board-part">{text.links}</h3>
      {links.items === undefined ? (
        <Awaited error={links.error} lines={3} />
      ) : links.items.length === 0 ? (
        <p class="soft">{text.none}</p>
      ) : (
        <ul class="list tall">
          {links.items.map(
            ({ id, note: whom, made_by: author, expires_at: at, opened_at: seen }) => (
              <li key={id}>
                {whom === '' ? text.anybody : whom}{' '}
                <span class="soft">
                  {say(text.by, { author })} · {text.ends} <Time at={at} /> ·{' '}
                  {seen === null ? (
                    text.never
                  ) : (
                    <>
                      {text.opened} <Time at={seen} />
                    </>
                  )}
                </span>{' '}
                <Button
                  kind="quiet"
                  icon="trash"
                  label={say(text.revoke, { id })}
                  onClick={() =>
                    void attempt(() => api.delete(`/monitor/links/${id}`), text.revoked).then(
                      links.reload,
                    )
                  }
                />
              </li>
            ),
          )}
        </ul>
      )}
    </Dialog>
  );
}
