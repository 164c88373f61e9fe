import type { Page } from '../../client/api.ts';
import { useRoom } from '../../client/additions.ts';
import { useData } from '../../client/data.ts';
import { nameOfDevice, useNames } from '../../client/names.ts';
import { changes as text } from '../../text/english/watch/overview.ts';
import { count } from '../../text/words.ts';
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
    query: { device_id: device, from, to, limit: Math.min(200, limit * 12) },
    kinds: ['rules', 'settings', 'edges', 'plugins'],
    every: 30_000,
  });
  const folded = foldedChanges(value?.items ?? []).slice(0, limit);
  useNames(folded.map(({ change: { summary } }) => ({ device_id: deviceIn(summary) })));
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
          {folded.map(({ change: { id, at, kind, summary, actor }, more }) => (
            <li key={id}>
              <span class="cut" title={summary}>
                {inWords(summary)}
                <br />
                <span class="soft">
                  {kind}
                  {actor !== null && ` · ${actor}`}
                  {more > 0 && ` · ${count(text.more, more)}`}
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

interface Folded {
  readonly change: Change;
  /** Number of older changes that differ from it in numbers alone, such as each relation of a set-up. */
  readonly more: number;
}

/** Folds runs of changes of one kind by one person: fifty edits of a script are one thing that happened. */
function foldedChanges(changes: readonly Change[]): readonly Folded[] {
  const folded: Folded[] = [];
  let before = '';
  for (const change of changes) {
    const alike = `${change.kind} ${change.actor} ${change.summary.replaceAll(/\d+/g, '0')}`;
    if (alike === before) {
      const { change: first, more } = folded.pop()!;
      folded.push({ change: first, more: more + 1 });
    } else {
      folded.push({ change, more: 0 });
    }
    before = alike;
  }
  return folded;
}

const aboutDevice = /^device (\d+)\b/;
const deviceIn = (summary: string): string => aboutDevice.exec(summary)?.[1] ?? '';

/** The summary with the name of the device that it is about. */
const inWords = (summary: string): string =>
  summary.replace(aboutDevice, (number, id: string) => nameOfDevice(id) ?? number);
