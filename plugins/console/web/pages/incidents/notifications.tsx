import { api, type Page } from '../../client/api.ts';
import { useMay, useSeesAll } from '../../client/additions.ts';
import { useData } from '../../client/data.ts';
import { address } from '../../browser/location.ts';
import { notifications as text } from '../../text/english/watch/incidents.ts';
import { attempt } from '../../kit/dialog.tsx';
import { Button, Section, Skeleton } from '../../kit/parts.tsx';
import { Mark, type Tone } from '../../kit/status.tsx';
import { Time } from '../../kit/time.tsx';

interface Why {
  readonly notified: boolean;
  readonly gates: readonly {
    readonly gate: string;
    readonly reason: string;
    readonly at: string;
  }[];
  readonly channels: readonly {
    readonly channel_id: number;
    readonly name: string;
    readonly outcome: string;
    readonly reason?: string;
  }[];
}

const tones: Readonly<Record<string, Tone>> = {
  sent: 'ok',
  folded: 'ok',
  failed: 'critical',
  delayed: 'warning',
  waiting: 'info',
};

/** Channels that were notified of the current firing, and what kept others from being notified. */
export function Notifications({ incident }: { readonly incident: number }) {
  const { value, error } = useData<Why>(`/alerts/incidents/${incident}/why`, {
    kinds: ['incidents', 'deliveries'],
  });
  const deliveries = useData<Page<Delivery>>(
    useSeesAll() ? '/notification-deliveries' : undefined,
    {
      query: { incident_id: incident, limit: 20 },
      kinds: ['deliveries'],
    },
  );
  // The outcome of a message is shown below, with the message itself.
  const heard = new Set(deliveries.value?.items.map(({ channel_id: id }) => id));
  if (error && !value) {
    return null;
  }
  return (
    <Section title={text.title}>
      {value === undefined ? (
        <Skeleton lines={2} />
      ) : value.channels.length === 0 && value.gates.length === 0 ? (
        <p class="soft calm">
          {text.none} <a href={address(['channels'])}>{text.add}</a>
        </p>
      ) : (
        <ul class="list">
          {value.gates.map(({ gate, reason, at }) => (
            <li key={gate + at}>
              <Mark tone="muted" />
              <span>{gate}</span>
              <span class="soft cut" title={reason}>
                {reason}
              </span>
            </li>
          ))}
          {value.channels
            .filter(({ channel_id: id }) => !heard.has(id))
            .map(({ channel_id: id, name, outcome, reason }) => (
              <li key={id}>
                <Mark tone={tones[outcome] ?? 'muted'} />
                <a class="cut" href={address(['channels', id])}>
                  {name}
                </a>
                <span class="soft" title={reason}>
                  {(text as Readonly<Record<string, string>>)[outcome] ?? outcome}
                </span>
              </li>
            ))}
        </ul>
      )}
      <Deliveries of={deliveries.value?.items ?? []} onAgain={deliveries.reload} />
    </Section>
  );
}

interface Delivery {
  readonly id: string;
  readonly state: 'queued' | 'delayed' | 'sent' | 'folded' | 'overtaken' | 'failed';
  readonly kind: 'firing' | 'resolved' | 'reminder';
  readonly channel_id: number;
  readonly channel_name: string;
  readonly error: string | null;
  readonly accepted_at: string;
}

/** Each message of it, newest first; one that did not arrive can be sent again. */
function Deliveries({
  of,
  onAgain,
}: {
  readonly of: readonly Delivery[];
  readonly onAgain: () => void;
}) {
  const may = useMay();
  const again = (id: string): void =>
    void attempt(
      () => api.post(`/notification-deliveries/${encodeURIComponent(id)}/resend`),
      text.sentAgain,
    ).then(onAgain);
  return of.length === 0 ? null : (
    <ul class="list">
      {of.map(({ id, state, kind, channel_name: name, error, accepted_at: at }) => (
        <li key={id}>
          <Mark tone={tones[state] ?? 'muted'} />
          <span class="cut" title={error ?? undefined}>
            {name}: {text[kind]} <span class="soft">{error ?? text[state]}</span>
          </span>
          {may('channel:resend') && (state === 'failed' || state === 'delayed') && (
            <Button onClick={() => again(id)}>{text.again}</Button>
          )}
          <span class="soft">
            <Time at={at} />
          </span>
        </li>
      ))}
    </ul>
  );
}
