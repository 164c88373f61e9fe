import type { ToldAlert } from 'svc/contracts/alert';
import type { Severity } from 'svc/contracts/notify';
import { parseForeignJson, type SvcError } from 'svc/sdk';

import { errors } from './errors.ts';

export interface Push {
  readonly alerts: readonly ToldAlert[];
  /** Number of alerts that could not be parsed. */
  readonly skipped: number;
}

type Words = Readonly<Record<string, string>>;

const mostAlerts = 2_000;
const most = { labels: 64, annotations: 32, name: 200, value: 1_000, annotation: 4_000 };

const severities: Readonly<Record<string, Severity>> = {
  critical: 'critical',
  page: 'critical',
  emergency: 'critical',
  disaster: 'critical',
  fatal: 'critical',
  error: 'critical',
  high: 'critical',
  p1: 'critical',
  warning: 'warning',
  warn: 'warning',
  medium: 'warning',
  major: 'warning',
  ticket: 'warning',
  p2: 'warning',
  p3: 'warning',
  info: 'info',
  informational: 'info',
  information: 'info',
  notice: 'info',
  low: 'info',
  minor: 'info',
  none: 'info',
  p4: 'info',
  p5: 'info',
};

/** Links besides the annotations, as Alertmanager and Grafana send them. */
const links = ['generatorURL', 'dashboardURL', 'panelURL', 'silenceURL'] as const;

/** The body of a webhook of Alertmanager (version 4) or Grafana, which adds fields to it. What one alert has wrong does not cost the others. */
export function readPush(body: Uint8Array, byDefault: Severity): Push {
  const { alerts } = parsed(body);
  if (!Array.isArray(alerts)) {
    throw unreadable('it has no list of alerts; send the webhook body of Alertmanager or Grafana');
  }
  if (alerts.length > mostAlerts) {
    throw unreadable(
      `it has ${alerts.length} alerts, and the limit is ${mostAlerts}; set max_alerts, or group by more labels`,
    );
  }
  const read = alerts.map((alert: unknown) => alertOf(alert, byDefault));
  const told = read.filter((alert) => alert !== undefined);
  return { alerts: told, skipped: read.length - told.length };
}

function parsed(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value = parseForeignJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return isRecord(value) ? value : {};
  } catch {
    throw unreadable('it is not JSON');
  }
}

function alertOf(alert: unknown, byDefault: Severity): ToldAlert | undefined {
  if (!isRecord(alert) || (alert['status'] !== 'firing' && alert['status'] !== 'resolved')) {
    return undefined;
  }
  const labels = wordsOf(alert['labels'], most.labels, most.value);
  const given = wordsOf(alert['annotations'] ?? {}, most.annotations, most.annotation);
  const name = labels?.['alertname'] || labels?.['rulename'];
  if (labels === undefined || given === undefined || !name) {
    return undefined;
  }
  const addresses = links.flatMap((link) =>
    isAddress(alert[link]) ? [[link.replace('URL', '_url'), alert[link]] as const] : [],
  );
  const values =
    typeof alert['valueString'] === 'string' && alert['valueString'] !== ''
      ? { values: plain(alert['valueString'], most.annotation) }
      : {};
  const runbook = given['runbook_url'];
  return {
    name,
    labels,
    fires: alert['status'] === 'firing',
    severity: severities[(labels['severity'] ?? '').toLowerCase()] ?? byDefault,
    annotations: { ...Object.fromEntries(addresses), ...values, ...given },
    runbook_url: isAddress(runbook) ? runbook : '',
    startsAt: timeOf(alert['startsAt']),
    endsAt: timeOf(alert['endsAt']),
  };
}

/** Parses a time; undefined for the year 1, by which Go denotes the zero time. */
function timeOf(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : NaN;
  return time > 0 ? time : undefined;
}

/** Undefined where they are no words, or too many: labels that were left away would make two alerts one. */
function wordsOf(value: unknown, mostWords: number, longest: number): Words | undefined {
  if (!isRecord(value)) {
    return undefined;
  }
  const entries = Object.entries(value);
  const fit = entries.every(
    ([name, word]) => name !== '' && name.length <= most.name && typeof word === 'string',
  );
  return fit && entries.length <= mostWords
    ? Object.fromEntries(
        entries.map(([name, word]) => [plain(name, most.name), plain(word as string, longest)]),
      )
    : undefined;
}

/** Removes invisible characters and truncates. */
const plain = (text: string, longest: number): string =>
  text.replaceAll(/[^\P{C}\n\t]/gu, '').slice(0, longest);

const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 2_000 && /^https?:\/\/[^\s"'<>]+$/.test(value);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const unreadable = (why: string): SvcError => errors.unreadable({ why });
