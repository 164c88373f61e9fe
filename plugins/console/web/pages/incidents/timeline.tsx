import type { Page } from '../../client/api.ts';
import { useData } from '../../client/data.ts';
import { timeline as text } from '../../text/english/watch/incidents.ts';
import { Markdown } from '../../kit/markdown.tsx';
import { Refused, Section, Skeleton } from '../../kit/parts.tsx';
import { Mark, type Severity, type Tone } from '../../kit/status.tsx';
import { Time } from '../../kit/time.tsx';

interface Event {
  readonly id: number;
  readonly type: string;
  readonly severity: Severity;
  readonly message: string;
  readonly actor: { readonly type: string; readonly name: string };
  readonly created_at: string;
}

const tones: Readonly<Record<string, Tone>> = {
  resolved: 'ok',
  notification_failed: 'warning',
  acknowledged: 'info',
  silenced: 'muted',
  note: 'info',
};

/** All that happened to an incident, newest first, each with who did it. */
export function Timeline({ incident }: { readonly incident: number }) {
  const { value, error, reload } = useData<Page<Event>>(`/alerts/incidents/${incident}/events`, {
    query: { order: 'desc', limit: 100 },
    kinds: ['incidents', 'deliveries', 'investigations'],
  });
  return (
    <Section title={text.title}>
      {value === undefined ? (
        error ? (
          <Refused error={error} retry={reload} />
        ) : (
          <Skeleton lines={3} />
        )
      ) : (
        <ol class="timeline">
          {value.items.map((event) => (
            <Row key={event.id} event={event} />
          ))}
          {value.next_cursor !== '' && <li class="soft">{text.more}</li>}
        </ol>
      )}
    </Section>
  );
}

function Row({
  event: { type, severity, message, actor, created_at: at },
}: {
  readonly event: Event;
}) {
  const isLong = type === 'note' || type === 'ai_initial_diagnosis';
  return (
    <li>
      <span class="soft">
        <Time at={at} as="clock" />
      </span>
      <Mark tone={tones[type] ?? (type === 'firing' || type === 'reopened' ? severity : 'muted')} />
      <div>
        <b>{(text as Readonly<Record<string, string>>)[type] ?? type}</b>
        {actor.type !== 'system' && <span class="soft"> {actor.name}</span>}
        {message !== '' && (isLong ? <Markdown text={message} /> : <p class="soft">{message}</p>)}
      </div>
    </li>
  );
}
