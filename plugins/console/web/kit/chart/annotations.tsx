import type { Page } from '../../client/api.ts';
import { useRoom } from '../../client/additions.ts';
import { useData } from '../../client/data.ts';
import { address } from '../../browser/location.ts';
import { onward as text } from '../../text/english/onward.ts';
import { Section } from '../parts.tsx';
import { Time } from '../time.tsx';
import type { Window } from './matrix.ts';
import type { Mark } from './plot.ts';

/** Kinds of changes that curves may follow; edits of svc itself move none. */
const kinds = 'deploy,config,upgrade,restart,reboot,package,certificate,note';
const roundSeconds = 300;
const most = 100;

export interface Annotation extends Mark {
  readonly label: string;
  readonly href?: string;
}

interface Incident {
  readonly id: number;
  readonly severity: string;
  readonly summary: string;
  readonly rule_name: string;
  readonly last_fired_at: string;
}

interface Change {
  readonly kind: string;
  readonly at: string;
  readonly summary: string;
  readonly actor: string | null;
}

/** Returns incidents, changes and notes of a window, of one device or of all, newest first. */
export function useAnnotations(window: Window, device?: number): readonly Annotation[] {
  const hasChanges = useRoom('changes');
  const hasIncidents = useRoom('alert');
  // On whole rounds, so that drawing again does not ask again.
  const rounded = (at: number): number => Math.floor(at / roundSeconds) * roundSeconds;
  const now = Date.now() / 1000;
  const [from, to] =
    'last' in window
      ? [rounded(now - window.last), undefined]
      : [rounded(window.from), rounded(window.to) + roundSeconds];
  const changes = useData<Page<Change>>(hasChanges ? '/changes' : undefined, {
    query: {
      kind: kinds,
      device_id: device,
      from: new Date(from * 1000).toISOString(),
      to: to === undefined ? undefined : new Date(to * 1000).toISOString(),
      limit: most,
    },
    every: 60_000,
  });
  const incidents = useData<Page<Incident>>(hasIncidents ? '/alerts/incidents' : undefined, {
    query: { scope: device === undefined ? undefined : `host:${device}`, limit: most },
    kinds: ['incidents'],
  });
  return [
    ...(incidents.value?.items ?? []).map(
      ({ id, severity, summary, rule_name: name, last_fired_at: at }): Annotation => ({
        at: Date.parse(at) / 1000,
        tone: `--${severity}`,
        label: summary || name,
        href: address(['incidents', id]),
      }),
    ),
    ...(changes.value?.items ?? []).map(({ kind, at, summary, actor }): Annotation => ({
      at: Date.parse(at) / 1000,
      tone: kind === 'note' ? '--accent' : '--muted',
      label: actor === null ? summary : `${summary} · ${actor}`,
    })),
  ]
    .filter(({ at }) => at >= from && at <= (to ?? Infinity))
    .toSorted((a, b) => b.at - a.at);
}

const mostListed = 20;

/** Lists what charts mark, for readers who do not point at a mark. */
export const Annotations = ({ of }: { readonly of: readonly Annotation[] }) =>
  of.length === 0 ? null : (
    <Section title={text.events}>
      <ul class="list">
        {of.slice(0, mostListed).map(({ at, label, href }) => (
          <li key={`${at} ${label}`}>
            {href === undefined ? (
              <span class="cut">{label}</span>
            ) : (
              <a class="cut" href={href}>
                {label}
              </a>
            )}
            <span class="soft">
              <Time at={at * 1000} as="clock" />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
