import type { NoticeIncident } from 'svc/contracts/notify';

/**
 * Grouping of incidents into messages by a channel, as in Alertmanager. Durations in milliseconds.
 */
export interface Grouping {
  /**
   * Fields or labels whose values an incident must share with the others of its message; `...`
   * sends each separately, none sends all together.
   */
  readonly by: readonly string[];
  /** Delay from the first incident of a group until it is sent. */
  readonly waitMs: number;
  /** Interval between messages about a group. */
  readonly intervalMs: number;
  /** Interval after which a firing group is sent again; 0 means never. */
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

/** Returns what all incidents of a group have in common; undefined if a group is one incident. */
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
