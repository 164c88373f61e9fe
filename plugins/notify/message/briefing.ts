import type { DeviceEntry } from 'svc/contracts/device';
import type {
  Background,
  Fact,
  MessageEntry,
  NoticeIncident,
  NoticeInstance,
} from 'svc/contracts/notify';
import { formatDuration } from 'svc/query';

import { oneLine } from './plain-text.ts';

/** Known facts besides a notice, as of now. */
export interface Surroundings {
  readonly now: number;
  readonly host?: DeviceEntry | undefined;
  readonly background?: Background | undefined;
}

const minuteMs = 60_000;
const longestFact = 2_000;
/** Max length of a host name that leaves space for its address. */
const longestName = 100;
const maxLabels = 30;
const maxTags = 6;
const maxInstances = 10;
const maxLacks = 3;

/** Returns the answers to the questions of a person who is woken; unknown ones are left out. */
export function factsOf({ kind, incident }: MessageEntry, around: Surroundings): readonly Fact[] {
  const { background } = around;
  const isOver = kind === 'resolved';
  const unit = background?.unit ?? '';
  const shown = (value: number): string => numberOf(value) + unit;
  const facts: readonly (readonly [name: string, text: string | false | undefined])[] = [
    ['Rule', incident.rule_name],
    [incident.device_id === undefined ? 'Scope' : 'Host', placeOf(incident, around)],
    ['Since', sinceOf(incident, around, isOver)],
    [
      isOver ? 'Value when it fired' : 'Value',
      incident.value !== undefined && againstThreshold(incident.value, incident.threshold, unit),
    ],
    ['Over because', isOver && incident.ended_because],
    [
      'Value now',
      isOver && background?.incident.value !== undefined && shown(background.incident.value),
    ],
    [
      'Week before',
      background?.week &&
        `${shown(background.week.average)} on average, ${shown(background.week.lowest)} to ${shown(background.week.highest)}`,
    ],
    ['Trend', !isOver && background?.hour && trendOf(background.hour, incident, shown)],
    ['Likely cause', !isOver && background?.diagnosis],
    ['In hand', !isOver && inHand(background)],
    ['Instances', instancesOf(incident)],
    ['Condition no longer met', clearingOf(incident)],
    [isOver ? 'Also fired' : 'No longer firing', leaversOf(incident)],
    ['Flapping', !isOver && flappingOf(incident)],
    ['Labels', labelsOf(incident.labels)],
    [
      'Also on this host',
      background !== undefined && background.beside.length > 0 && background.beside.join('; '),
    ],
    ['Firings', incident.event_count > 1 && String(incident.event_count)],
    ['Runbook', /^https?:/.test(incident.runbook_url ?? '') && incident.runbook_url],
  ];
  return facts.flatMap(([name, text]) =>
    typeof text === 'string' && text !== '' ? [{ name, text: oneLine(text, longestFact) }] : [],
  );
}

/** The host by its name, address, roles and tags; another scope by what it is called. */
export function placeOf(
  { scope_type: scope, scope_id: id, device_id: device }: NoticeIncident,
  { host }: Pick<Surroundings, 'host'>,
): string {
  if (device === undefined) {
    return scope === 'global' ? '' : `${scope === 'monitoring_pipeline' ? 'pipeline ' : ''}${id}`;
  }
  if (host === undefined) {
    return `device ${device}`;
  }
  const tags = Object.entries(host.tags).slice(0, maxTags);
  return [
    `${oneLine(host.display_name, longestName)}${host.ip_address === null ? '' : ` (${host.ip_address})`}`,
    ...(host.roles.length > 0 ? [`role ${host.roles.join(', ')}`] : []),
    ...tags.map(([name, text]) => (text === '' ? name : `${name}=${text}`)),
  ].join(', ');
}

export const nameOf = (incident: NoticeIncident, host: DeviceEntry | undefined): string =>
  host?.display_name ??
  (incident.device_id === undefined
    ? incident.scope_type === 'global'
      ? ''
      : incident.scope_id
    : `device ${incident.device_id}`);

function sinceOf(
  { fired_at: from, resolved_at: to }: NoticeIncident,
  { now }: Surroundings,
  isOver: boolean,
): string {
  const lasted = lastingOf((to === undefined ? now : Date.parse(to)) - Date.parse(from));
  return isOver
    ? `${clockOf(from)} until ${to === undefined ? 'now' : clockOf(to)}, for ${lasted}`
    : `${clockOf(from)}, for ${lasted}`;
}

export const clockOf = (timestamp: string): string =>
  `${timestamp.slice(0, 19).replace('T', ' ')} UTC`;

/** Formats a duration, to the minute if it is longer than one. */
export const lastingOf = (ms: number): string =>
  formatDuration(
    ms < minuteMs
      ? Math.max(0, Math.round(ms / 1_000)) * 1_000
      : Math.round(ms / minuteMs) * minuteMs,
  );

export const againstThreshold = (value: number, threshold: number | undefined, unit = ''): string =>
  `${numberOf(value)}${unit}${threshold === undefined ? '' : ` (threshold ${numberOf(threshold)}${unit})`}`;

/** Formats a number without floating point noise. */
const numberOf = (value: number): string => String(Number(value.toPrecision(6)));

const trendSpanMs = 15 * minuteMs;
/** Min relative change; anything less is noise. */
const leastChange = 0.03;

/** Compares the last minutes with those a quarter of an hour before. */
function trendOf(
  points: NonNullable<Background['hour']>,
  { threshold, value }: NoticeIncident,
  shown: (value: number) => string,
): string | undefined {
  const last = points.at(-1);
  const now = points.filter(([at]) => at > last![0] - 3 * minuteMs);
  const before = points.filter(([at]) => at <= last![0] - trendSpanMs).slice(-3);
  if (now.length === 0 || before.length === 0) {
    return undefined;
  }
  const [was, is] = [meanOf(before), meanOf(now)];
  if (Math.abs(is - was) <= leastChange * Math.max(Math.abs(was), Math.abs(is))) {
    return `steady at ${shown(is)}`;
  }
  const risesAway = threshold === undefined || value === undefined ? undefined : value >= threshold;
  const word =
    risesAway === undefined
      ? is > was
        ? 'rising'
        : 'falling'
      : is > was === risesAway
        ? 'getting worse'
        : 'getting better';
  return `${word}: ${shown(was)} a quarter of an hour before, ${shown(is)} now`;
}

const meanOf = (points: NonNullable<Background['hour']>): number =>
  points.reduce((sum, [, value]) => sum + value, 0) / points.length;

function inHand(background: Background | undefined): string | undefined {
  const { acknowledged_by: by, acknowledged_at: at } = background ?? {};
  return (
    background &&
    (by === undefined
      ? 'not acknowledged'
      : `acknowledged by ${by}${at === undefined ? '' : ` at ${clockOf(at)}`}`)
  );
}

function instancesOf({
  firing_instances: total,
  instances = [],
}: NoticeIncident): string | undefined {
  return total === undefined || total < 2
    ? undefined
    : `${total} firing: ${listed(instances, total)}`;
}

const leaversOf = ({ left_instances: total, left = [] }: NoticeIncident): string | undefined =>
  total === undefined ? undefined : `${total}: ${listed(left, total)}`;

const clearingOf = ({
  clearing_instances: total,
  clearing = [],
}: NoticeIncident): string | undefined =>
  total === undefined ? undefined : `${total}: ${listed(clearing, total)}`;

function flappingOf({ flapping }: NoticeIncident): string | undefined {
  return (
    flapping &&
    `fired ${flapping.fires} times within ${lastingOf(flapping.window_seconds * 1_000)}; no further messages until it settles`
  );
}

/**
 * Names instances by the labels that tell them apart, with their values. One that lacks a label of the others is told
 * apart by that.
 */
function listed(instances: readonly NoticeInstance[], total: number): string {
  const [first] = instances;
  const shared = Object.entries(first?.labels ?? {}).filter(
    ([name, text]) => name !== 'instance' && instances.every(({ labels }) => labels[name] === text),
  );
  const common = instances.length < 2 ? new Set() : new Set(shared.map(([name]) => name));
  const all = new Set(instances.flatMap(({ labels }) => Object.keys(labels)));
  const named = instances.slice(0, maxInstances).map(({ labels, value }) => {
    const own = Object.entries(labels).filter(([name]) => !common.has(name));
    const lacks = [...all].filter((name) => labels[name] === undefined).slice(0, maxLacks);
    return [
      ...own.map(([name, text]) => `${name}=${text}`),
      ...(lacks.length > 0 ? [`(${lacks.map((name) => `no ${name}`).join(', ')})`] : []),
      ...(value === undefined ? [] : [numberOf(value)]),
    ].join(' ');
  });
  const more = total - named.length;
  return `${named.filter((text) => text !== '').join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

export function labelsOf(labels: NoticeIncident['labels']): string {
  const shown = Object.entries(labels).slice(0, maxLabels);
  return shown.map(([name, text]) => `${name}=${text}`).join(', ');
}
