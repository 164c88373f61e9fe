import type { Page } from '../../client/api.ts';
import { useRoom } from '../../client/additions.ts';
import { useData } from '../../client/data.ts';
import { changes as text } from '../../text/english/watch/overview.ts';
import { Awaited, Section } from '../../kit/parts.tsx';
import { Time } from '../../kit/time.tsx';

/** Something that was changed on purpose: by people, by programs, by upgrades. */
interface Change {
  readonly id: number;
  readonly at: string;
  readonly kind: string;
  readonly summary: string;
  readonly actor: string | null;
  readonly service: string | null;
  readonly link: string | null;
}

/** Recent changes, optionally of one device; nothing if svc has no plugin for changes. */
export function Changes({
  device,
  from,
  to,
  limit = 8,
}: {
  readonly device?: number;
  readonly from?: string;
  readonly to?: string;
  readonly limit?: number;
}) {
  const hasRoom = useRoom('changes');
  const { value, error } = useData<Page<Change>>(hasRoom ? '/changes' : undefined, {
    query: { device_id: device, from, to, limit },
    kinds: ['rules', 'settings', 'edges', 'plugins'],
    every: 30_000,
  });
  if (!hasRoom) {
    return null;
  }
  return (
    <Section title={text.title}>
      {value === undefined ? (
        <Awaited error={error} lines={3} />
      ) : value.items.length === 0 ? (
        <p class="soft calm">{text.none}</p>
      ) : (
        <ul class="list two-lines">
          {value.items.map(({ id, at, kind, summary, actor }) => (
            <li key={id}>
              <span class="cut" title={summary}>
                {summary}
                <br />
                <span class="soft">
                  {kind}
                  {actor !== null && ` · ${actor}`}
                </span>
              </span>
              <span class="soft">
                <Time at={at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
