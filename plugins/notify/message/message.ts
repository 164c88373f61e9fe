import { chartPicture } from 'svc/chart-picture';
import type { DeviceEntry } from 'svc/contracts/device';
import type {
  ChannelMessage,
  MessageEntry,
  Notice,
  NoticeIncident,
  Severity,
} from 'svc/contracts/notify';

import { againstThreshold, factsOf, lastingOf, nameOf, type Surroundings } from './briefing.ts';
import { renderTemplate } from './channel-template.ts';
import { sharedOf } from './grouping.ts';
import { oneLine, withoutControls } from './plain-text.ts';
import type { NotifyTables } from '../store/tables.ts';

/** Severities from mild to grave. */
export const severities: readonly Severity[] = ['info', 'warning', 'critical'];

/** Target of a link. */
export type Target = { readonly incident: number } | { readonly digest: string };

/**
 * Pages besides the targets themselves: where a signed-in user acknowledges and silences an
 * incident, and its chart as a picture.
 */
export type Place = Target | { readonly act: number } | { readonly chart: number };

/** Makes links that work for those who get the message; undefined: to all incidents. Empty: leads nowhere. */
export type LinkOf = (place: Place | undefined) => string;

const words = { firing: 'FIRING', resolved: 'RESOLVED', reminder: 'STILL FIRING' } as const;
const longestTitle = 300;
const longestLine = 2_000;
/** Incidents of a digest that get a line. */
const maxLines = 30;
const maxNames = 3;
const maxSteps = 4;

/** The message about one incident, in the channel's own template unless that fails. */
export function incidentMessage(
  deliveryId: string,
  entry: MessageEntry,
  {
    link,
    act = '',
    chart = '',
    template,
    around,
  }: IncidentLinks & { readonly template: string | undefined; readonly around: Surroundings },
): ChannelMessage {
  const { kind, incident } = entry;
  const title = headline(entry, around.host);
  const made =
    template === undefined ? undefined : renderTemplate(template, { kind, incident, title, link });
  const about = [
    ...aboutOf(entry),
    ...(made !== undefined && 'error' in made
      ? [`(the template of this channel failed: ${oneLine(made.error, 200)})`]
      : []),
  ];
  const facts = factsOf(entry, around);
  const steps = kind === 'resolved' ? [] : (around.background?.steps ?? []).slice(0, maxSteps);
  const templated = made !== undefined && 'text' in made;
  const hour = around.background?.hour;
  return {
    delivery_id: deliveryId,
    kind,
    severity: incident.severity,
    title,
    link,
    incident,
    about,
    facts,
    steps,
    templated,
    tone: kind === 'resolved' ? 'good' : incident.severity,
    lines: templated ? withoutControls(made.text).split('\n') : linesOf({ about, facts, steps }),
    ...(kind !== 'resolved' && act !== '' && { act }),
    ...(hour !== undefined &&
      chart !== '' && {
        chart: {
          link: chart,
          png: () => chartPicture({ lines: [hour], bound: incident.threshold }),
        },
      }),
  };
}

/** Links of a message about one incident. */
export interface IncidentLinks {
  readonly link: string;
  readonly act?: string;
  readonly chart?: string;
}

export interface DigestContents {
  /** One of each incident. */
  readonly entries: readonly MessageEntry[];
  readonly counts: Readonly<Record<Notice['kind'], number>>;
  readonly group: string;
  readonly hosts: ReadonlyMap<string, DeviceEntry>;
  readonly now: number;
}

/** One message about many: how many, who they are, and where the rest is to be read. */
export function digestMessage(
  deliveryId: string,
  { entries, counts, group, hosts, now }: DigestContents,
  link: string,
): ChannelMessage {
  const count = counts.firing + counts.resolved + counts.reminder;
  const parts = (['firing', 'reminder', 'resolved'] as const)
    .filter((kind) => counts[kind] > 0)
    .map((kind) => `${counts[kind]} ${words[kind]}`);
  const hostOf = ({ device_id: id }: NoticeIncident): DeviceEntry | undefined =>
    id === undefined ? undefined : hosts.get(id);
  const lines = entries
    .slice(0, maxLines)
    .map(({ kind, incident }) => lineOf({ kind, incident }, hostOf(incident), now));
  const more = count - Math.min(entries.length, maxLines);
  const isOver = counts.firing + counts.reminder === 0;
  const severity = entries[0]?.incident.severity ?? 'info';
  return {
    delivery_id: deliveryId,
    kind: 'digest',
    severity,
    tone: isOver ? 'good' : severity,
    title: oneLine(
      `[${parts.join(', ')}] ${subjectOf(group, entries, isOver)}${namesOf(entries, hostOf)}`,
      longestTitle,
    ),
    about: [...lines, ...(more > 0 ? [`… and ${more} more`] : [])],
    facts: [],
    steps: [],
    lines: [...lines, ...(more > 0 ? [`… and ${more} more`] : [])],
    link,
    templated: false,
    entries,
    count,
    group_key: group,
  };
}

export function testMessage(deliveryId: string, channelName: string, link: string): ChannelMessage {
  const about = [
    oneLine(
      `This is a test of the channel ${channelName}. Notifications of incidents will arrive here.`,
      longestTitle,
    ),
  ];
  return {
    delivery_id: deliveryId,
    kind: 'test',
    severity: 'info',
    tone: 'info',
    title: '[TEST] svc',
    link,
    templated: false,
    about,
    facts: [],
    steps: [],
    lines: about,
  };
}

/** Builds a message of another plugin that is not about an incident. */
export function wordsMessage(
  { delivery_id, title, lines: text, path }: NotifyTables['notify_words'],
  origin: string,
): ChannelMessage {
  const about = (JSON.parse(text) as readonly string[]).map((line) => oneLine(line, longestLine));
  return {
    delivery_id,
    kind: 'words',
    severity: 'warning',
    tone: 'warning',
    title: oneLine(title, longestTitle),
    link: `${origin}${path}`,
    templated: false,
    about,
    facts: [],
    steps: [],
    lines: about,
  };
}

/** Returns the headline; an incident that has ended is not described as ongoing. */
function headline({ kind, incident }: MessageEntry, host: DeviceEntry | undefined): string {
  const name = nameOf(incident, host);
  const head = `[${words[kind]}] ${incident.severity}:`;
  if (kind === 'resolved') {
    const lasted =
      incident.resolved_at === undefined
        ? ''
        : ` (after ${lastingOf(Date.parse(incident.resolved_at) - Date.parse(incident.fired_at))})`;
    const { ended_because: because, rule_name: rule } = incident;
    const on = name === '' ? '' : ` on ${name}`;
    // Whether the condition lasts is not known then.
    return oneLine(
      because === undefined
        ? `${head} no longer${on}: ${rule}${lasted}`
        : `[OVER] ${incident.severity}: ${rule}${on}: ${because}${lasted}`,
      longestTitle,
    );
  }
  const said = incident.summary === '' ? incident.rule_name : incident.summary;
  const summary =
    host === undefined
      ? said
      : said.replaceAll(/\bdevice (\d+)\b/gi, (named, id) =>
          id === String(host.id) ? host.display_name : named,
        );
  return oneLine(
    `${head} ${summary}${host === undefined || summary.includes(host.display_name) ? '' : ` (${host.display_name})`}`,
    longestTitle,
  );
}

function aboutOf({ kind, incident: { annotations, summary } }: MessageEntry): readonly string[] {
  const about = annotations['description'] ?? annotations['message'];
  return kind === 'resolved' || about === undefined || about === summary
    ? []
    : [oneLine(about, longestLine)];
}

const linesOf = ({
  about,
  facts,
  steps,
}: Pick<ChannelMessage, 'about' | 'facts' | 'steps'>): readonly string[] => [
  ...about,
  ...facts.map(({ name, text }) => `${name}: ${text}`),
  ...(steps.length === 0
    ? []
    : ['What to do:', ...steps.map((step, index) => `${index + 1}. ${step}`)]),
];

function lineOf(entry: MessageEntry, host: DeviceEntry | undefined, now: number): string {
  const { kind, incident } = entry;
  const { value, threshold, fired_at: from, resolved_at: to } = incident;
  const lasted = lastingOf((to === undefined ? now : Date.parse(to)) - Date.parse(from));
  const measured =
    kind === 'resolved' || value === undefined ? '' : `, ${againstThreshold(value, threshold)}`;
  const more =
    incident.firing_instances === undefined ? '' : `, ${incident.firing_instances} instances`;
  const ended = kind === 'resolved' && to === undefined ? '' : `, for ${lasted}`;
  return oneLine(
    `${headline({ kind, incident: withoutTimes(incident, kind) }, host)}${measured}${more}${ended}`,
    longestLine,
  );
}

/** Removes times that the line already states. */
function withoutTimes(incident: NoticeIncident, kind: MessageEntry['kind']): NoticeIncident {
  const { resolved_at: _, ...rest } = incident;
  return kind === 'resolved' ? rest : incident;
}

function subjectOf(group: string, entries: readonly MessageEntry[], isOver: boolean): string {
  const names = new Set(entries.map(({ incident }) => incident.rule_name));
  const shared = Object.entries(sharedOf(group) ?? {}).filter(
    ([name, text]) => name !== 'rule_key' && name !== 'alertname' && text !== '',
  );
  const rules =
    names.size === 1 ? `${isOver ? 'no longer: ' : ''}${[...names][0]}` : `${names.size} rules`;
  return shared.length === 0
    ? rules
    : `${rules}, ${shared.map(([name, text]) => `${name}=${text}`).join(', ')}`;
}

function namesOf(
  entries: readonly MessageEntry[],
  hostOf: (incident: NoticeIncident) => DeviceEntry | undefined,
): string {
  const names = [
    ...new Set(
      entries
        .map(({ incident }) => nameOf(incident, hostOf(incident)))
        .filter((name) => name !== ''),
    ),
  ];
  const more = names.length - maxNames;
  return names.length === 0
    ? ''
    : ` (${names.slice(0, maxNames).join(', ')}${more > 0 ? ' …' : ''})`;
}
