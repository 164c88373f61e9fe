import { useData } from '../../frame/data.ts';
import { address } from '../../frame/location.ts';
import { words } from '../../frame/words.ts';
import { Section, Skeleton } from '../../kit/parts.tsx';
import { Mark, type Tone } from '../../kit/status.tsx';

const text = words('told', {
  title: 'Who was told',
  nobody: 'Nobody: there is no channel for it.',
  add: 'Connect one',
  sent: 'told',
  folded: 'told, together with others',
  failed: 'could not be told',
  delayed: 'later',
  overtaken: 'overtaken by a newer state',
  waiting: 'waits',
  held_back: 'held back',
  not_for_it: 'not for it',
});

interface Why {
  readonly notified: boolean;
  readonly gates: readonly { readonly gate: string; readonly reason: string; readonly at: string }[];
  readonly channels: readonly { readonly channel_id: number; readonly name: string; readonly outcome: string; readonly reason?: string }[];
}

const tones: Readonly<Record<string, Tone>> = { sent: 'ok', folded: 'ok', failed: 'critical', delayed: 'warning', waiting: 'info' };

/** Which channels were told of the present firing, and what kept it from the others. */
export function Told({ incident }: { readonly incident: number }) {
  const { value, error } = useData<Why>(`/alerts/incidents/${incident}/why`, { kinds: ['incidents', 'deliveries'] });
  if (error && !value) {
    return null;
  }
  return (
    <Section title={text.title}>
      {value === undefined ? (
        <Skeleton lines={2} />
      ) : value.channels.length === 0 && value.gates.length === 0 ? (
        <p class="soft calm">
          {text.nobody} <a href={address(['channels'])}>{text.add}</a>
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
          {value.channels.map(({ channel_id: id, name, outcome, reason }) => (
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
    </Section>
  );
}
