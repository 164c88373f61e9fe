import { useEffect, useState } from 'preact/hooks';

import { api, type ApiError } from '../../client/api.ts';
import { asApiError } from '../../client/data.ts';
import { silences as text } from '../../text/english/alerting/silences.ts';
import { count, say } from '../../text/words.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { Skeleton } from '../../kit/parts.tsx';
import { Status } from '../../kit/status.tsx';
import { Time } from '../../kit/time.tsx';
import { MatcherRows } from './matcher-rows.tsx';
import type { Matcher, Silence } from './silence.ts';
import { firstWhen, requestOf, type When, WhenFields, whenOf } from './when.tsx';

interface SilenceDialogProps {
  /** The one that is edited; none for a new one. */
  readonly silence?: Silence;
  readonly first: readonly Matcher[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Says what a silence would mute before it is made: one that mutes too much is found out in the night. */
export function SilenceDialog({ silence, first, onClose, onDone }: SilenceDialogProps) {
  const [matchers, setMatchers] = useState<readonly Matcher[]>(
    silence?.matchers ?? (first.length > 0 ? first : [{ name: 'rule', op: '=', value: '' }]),
  );
  const [when, setWhen] = useState<When>(() =>
    silence === undefined ? firstWhen(Date.now()) : whenOf(silence),
  );
  const [reason, setReason] = useState(silence?.reason ?? '');
  const given = matchers.filter(({ name, value }) => name.trim() !== '' && value !== '');
  const body = {
    ...(silence !== undefined && { name: silence.name }),
    matchers: given,
    ...requestOf(when),
    reason,
  };
  const save = async (): Promise<void> => {
    await (silence === undefined
      ? api.post('/alerts/silences', body)
      : api.put(`/alerts/silences/${silence.id}`, body));
    onDone();
    onClose();
  };
  return (
    <Dialog title={silence === undefined ? text.add : text.edit} onClose={onClose} wide>
      <Form
        submit={silence === undefined ? text.add : text.save}
        onSubmit={save}
        onCancel={onClose}
        disabled={given.length === 0 || reason.trim() === ''}
      >
        <MatcherRows value={matchers} onChange={setMatchers} />
        <WhenFields value={when} onChange={setWhen} exists={silence !== undefined} />
        <TextField
          label={text.reason}
          value={reason}
          onInput={setReason}
          hint={text.reasonHint}
          required
        />
        {given.length > 0 && <Preview body={JSON.stringify({ ...body, reason: '-' })} />}
      </Form>
    </Dialog>
  );
}

interface Previewed {
  readonly firing_now: number;
  readonly muted_now: number;
  readonly fired_last_24h: number;
  readonly muted_last_24h: number;
  readonly muted: readonly { readonly incident_id: number; readonly rule: string }[];
  readonly windows: readonly { readonly starts_at: string; readonly ends_at: string }[];
}

const calmMs = 300;

function Preview({ body }: { readonly body: string }) {
  const [state, setState] = useState<{ readonly shown?: Previewed; readonly error?: ApiError }>({});
  useEffect(() => {
    const own = new AbortController();
    const ask = async (): Promise<void> => {
      try {
        setState({
          shown: await api.post<Previewed>('/alerts/silences/preview', JSON.parse(body), {
            signal: own.signal,
          }),
        });
      } catch (error) {
        if (!own.signal.aborted) {
          setState({ error: asApiError(error) });
        }
      }
    };
    const timer = setTimeout(() => void ask(), calmMs);
    return () => {
      clearTimeout(timer);
      own.abort();
    };
  }, [body]);
  const { shown, error } = state;
  if (error !== undefined) {
    return (
      <p class="critical" role="status">
        {error.message}
      </p>
    );
  }
  if (shown === undefined) {
    return <Skeleton lines={2} />;
  }
  const rules = [...new Set(shown.muted.map(({ rule }) => rule))];
  return (
    <div class="silence-preview" role="status">
      <Status
        tone={shown.muted_now === shown.firing_now && shown.firing_now > 1 ? 'warning' : 'info'}
      >
        {say(text.mutesNow, { muted: shown.muted_now, firing: shown.firing_now })}{' '}
        {say(text.mutedDay, { muted: shown.muted_last_24h, fired: shown.fired_last_24h })}
      </Status>
      {rules.length > 0 && (
        <p class="soft">
          {rules.slice(0, 5).join(', ')} {rules.length > 5 && count(text.more, rules.length - 5)}
        </p>
      )}
      {shown.windows.length > 0 && (
        <p class="soft">
          {text.nextWindows}{' '}
          {shown.windows.map(({ starts_at: at }, index) => (
            <span key={at}>
              {index > 0 && ', '}
              <Time at={at} as="clock" />
            </span>
          ))}
        </p>
      )}
    </div>
  );
}
