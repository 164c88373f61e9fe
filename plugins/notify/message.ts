import { renderTemplate } from './channel-template.ts';
import type { ChannelMessage, MessageEntry, Notice, NoticeIncident, Severity } from './contract.ts';
import { oneLine, withoutControls } from './plain-text.ts';

/** From mild to grave. */
export const severities: readonly Severity[] = ['info', 'warning', 'critical'];

/** Makes links that work for those who get the message. */
export type LinkOf = (incidentId: number | undefined) => string;

const words = { firing: 'FIRING', resolved: 'RESOLVED', reminder: 'STILL FIRING' } as const;
const longestTitle = 300;
const longestLine = 2_000;
const mostLabels = 30;

/** The message about one incident, in the channel's own template unless that fails. */
export function incidentMessage(deliveryId: string, { kind, incident }: MessageEntry, link: string, template: string | undefined): ChannelMessage {
  const title = headline({ kind, incident });
  const base = { delivery_id: deliveryId, kind, severity: incident.severity, title, link, incident };
  const made = template === undefined ? undefined : renderTemplate(template, { kind, incident, title, link });
  return made === undefined
    ? { ...base, lines: usualLines(incident), templated: false }
    : 'text' in made
      ? { ...base, lines: withoutControls(made.text).split('\n'), templated: true }
      : { ...base, lines: [...usualLines(incident), `(the template of this channel failed: ${oneLine(made.error, 200)})`], templated: false };
}

export function digestMessage(
  deliveryId: string,
  entries: readonly MessageEntry[],
  counts: Readonly<Record<Notice['kind'], number>>,
  link: string,
): ChannelMessage {
  const count = counts.firing + counts.resolved + counts.reminder;
  const parts = [
    counts.firing > 0 && `${counts.firing} firing`,
    counts.reminder > 0 && `${counts.reminder} still firing`,
    counts.resolved > 0 && `${counts.resolved} resolved`,
  ];
  const more = count - entries.length;
  return {
    delivery_id: deliveryId,
    kind: 'digest',
    severity: entries[0]?.incident.severity ?? 'info',
    title: `[DIGEST] ${count} notifications: ${parts.filter((part) => part !== false).join(', ')}`,
    lines: [...entries.map((entry) => headline(entry)), ...(more > 0 ? [`… and ${more} more`] : [])],
    link,
    templated: false,
    entries,
    count,
  };
}

export const testMessage = (deliveryId: string, channelName: string, link: string): ChannelMessage => ({
  delivery_id: deliveryId,
  kind: 'test',
  severity: 'info',
  title: '[TEST] svc',
  lines: [oneLine(`This is a test of the channel ${channelName}. Notifications of incidents will arrive here.`, longestTitle)],
  link,
  templated: false,
});

const headline = ({ kind, incident }: MessageEntry): string =>
  oneLine(`[${words[kind]}] ${incident.severity}: ${incident.summary === '' ? incident.rule_name : incident.summary}`, longestTitle);

function usualLines(incident: NoticeIncident): string[] {
  const { value, threshold, annotations, labels } = incident;
  const about = annotations['description'] ?? annotations['message'];
  const shown = Object.entries(labels).slice(0, mostLabels);
  const lines = [
    about !== undefined && about !== incident.summary && about,
    `Rule: ${incident.rule_name}`,
    incident.scope_type !== 'global' && `${incident.device_id === undefined ? 'Scope' : 'Device'}: ${incident.device_id ?? incident.scope_id}`,
    value !== undefined && `Value: ${number(value)}${threshold === undefined ? '' : ` (threshold ${number(threshold)})`}`,
    shown.length > 0 && `Labels: ${shown.map(([name, text]) => `${name}=${text}`).join(', ')}`,
    `Since: ${incident.fired_at}`,
    incident.resolved_at !== undefined && `Resolved: ${incident.resolved_at}`,
    incident.event_count > 1 && `Firings: ${incident.event_count}`,
    incident.runbook_url !== undefined && incident.runbook_url !== '' && `Runbook: ${incident.runbook_url}`,
  ];
  return lines.filter((line) => line !== false).map((line) => oneLine(line, longestLine));
}

/** Without the digits that only floating point has put there. */
const number = (value: number): string => String(Number(value.toPrecision(6)));
