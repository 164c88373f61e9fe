import type { NoticeIncident } from 'svc/contracts/notify';

/** How a channel gathers incidents into messages, as Alertmanager does. Durations in milliseconds. */
export interface Grouping {
  /** Fields or labels whose values an incident must share with the others of its message; `...`: each goes by itself, none: all go together. */
  readonly by: readonly string[];
  /** From the first of a group until it is sent. */
  readonly waitMs: number;
  /** From one message about a group to the next. */
  readonly intervalMs: number;
  /** From the last message about a group until it is sent again, while it burns; 0: never. */
  readonly repeatMs: number;
}

/** Stands for all groups at once, where many are due. */
export const everyGroup = '*';
export const apart = '...';

const longestKey = 1_000;

/** Equal for the incidents that go to the channel in one message. */
export function groupKeyOf(
  { grouping: { by } }: { readonly grouping: Pick<Grouping, 'by'> },
  incident: NoticeIncident,
): string {
  return by.includes(apart)
    ? `incident ${incident.id}`
    : JSON.stringify(Object.fromEntries(by.map((name) => [name, fieldOf(incident, name)]))).slice(
        0,
        longestKey,
      );
}

/** What all incidents of a group have in common; undefined where a group is one incident. */
export function sharedOf(groupKey: string): Readonly<Record<string, string>> | undefined {
  return groupKey.startsWith('{') && groupKey.length < longestKey
    ? (JSON.parse(groupKey) as Record<string, string>)
    : undefined;
}

/** Milliseconds from now until a notice that has just come is sent; `sentAt`: when its group last was. */
export const delayOf = (
  { waitMs, intervalMs }: Grouping,
  sentAt: number | undefined,
  now: number,
): number =>
  sentAt === undefined ? waitMs : Math.max(waitMs, Math.min(sentAt, now) + intervalMs - now);

function fieldOf(incident: NoticeIncident, name: string): string {
  switch (name) {
    case 'rule_key':
    case 'alertname':
      return incident.rule_key;
    case 'severity':
    case 'scope_type':
    case 'scope_id':
      return incident[name];
    case 'device_id':
      return incident.device_id ?? '';
    default:
      return incident.labels[name] ?? '';
  }
}
