import { createHash } from 'node:crypto';

import type { DashboardView } from 'svc/contracts/monitor';

import { logsUid, metricsUid } from './data-sources.ts';

/** Tag by which a dashboard of svc is recognized in Grafana. */
export const ownTag = 'svc';

const units: Readonly<Record<string, string>> = {
  none: 'short',
  percent: 'percent',
  ratio: 'percentunit',
  bytes: 'bytes',
  bytes_per_second: 'binBps',
  bits_per_second: 'bps',
  per_second: 'ops',
  seconds: 's',
  milliseconds: 'ms',
  hertz: 'hertz',
  celsius: 'celsius',
  timestamp: 'dateTimeFromNow',
  boolean: 'bool_yes_no',
};
/** Grafana's clock for dates counts milliseconds. */
const factors: Readonly<Record<string, string>> = { timestamp: ' * 1000' };

const colors: Readonly<Record<string, string>> = {
  ok: 'green',
  warning: 'orange',
  critical: 'red',
};
const longestUid = 40;

/** Theirs have 40 characters at most, and a namespace that all of their users share. */
export function grafanaUid(uid: string): string {
  const own = `svc-${uid}`;
  return own.length <= longestUid
    ? own
    : `${own.slice(0, longestUid - 9)}-${createHash('sha256').update(uid).digest('hex').slice(0, 8)}`;
}

type Panel = DashboardView['panels'][number];
type Variable = DashboardView['variables'][number];

/** A dashboard as Grafana's API takes it, without the id and version that only Grafana knows. */
export function dashboardJson({
  uid,
  title,
  description,
  variables,
  panels,
}: DashboardView): Readonly<Record<string, unknown>> {
  return {
    uid: grafanaUid(uid),
    title,
    description,
    tags: [ownTag],
    schemaVersion: 39,
    editable: true,
    timezone: 'browser',
    time: { from: 'now-1h', to: 'now' },
    refresh: '30s',
    templating: { list: variables.map(variableJson) },
    panels: panels.map((panel, index) => panelJson(panel, index + 1)),
  };
}

function panelJson(
  { title, type, query, legend, unit, thresholds, position: { x, y, w, h } }: Panel,
  id: number,
): object {
  const isLogs = type === 'logs';
  const datasource = isLogs
    ? { type: 'loki', uid: logsUid }
    : { type: 'prometheus', uid: metricsUid };
  const factor = factors[unit];
  const target = {
    refId: 'A',
    datasource,
    expr: factor === undefined ? query : `(${query})${factor}`,
    legendFormat: legend === '' ? '__auto' : legend,
    ...(isLogs
      ? { queryType: 'range' }
      : type === 'timeseries'
        ? { range: true }
        : { instant: true, ...(type === 'table' && { format: 'table' }) }),
  };
  const steps =
    thresholds[0]?.value === null ? thresholds : [{ value: null, state: 'ok' }, ...thresholds];
  return {
    id,
    type,
    title,
    datasource,
    gridPos: { x, y, w, h },
    targets: [target],
    ...(!isLogs && {
      fieldConfig: {
        defaults: {
          unit: units[unit] ?? 'short',
          ...(thresholds.length > 0 && {
            thresholds: {
              mode: 'absolute',
              steps: steps.map(({ value, state }) => ({ value, color: colors[state]! })),
            },
          }),
          ...(type === 'timeseries' &&
            thresholds.length > 0 && { custom: { thresholdsStyle: { mode: 'dashed' } } }),
        },
        overrides: [],
      },
    }),
  };
}

function variableJson({
  name,
  title,
  type,
  query = '',
  regex,
  values = [],
  default: usual,
  multi = false,
  all = false,
}: Variable): object {
  const head = { name, ...(title !== undefined && { label: title }) };
  const current = usual === undefined ? {} : { current: { text: usual, value: usual } };
  switch (type) {
    case 'query':
      return {
        ...head,
        type,
        datasource: { type: 'prometheus', uid: metricsUid },
        query: { query, refId: name },
        definition: query,
        refresh: 2,
        sort: 1,
        multi,
        includeAll: all,
        ...current,
        ...(regex !== undefined && { regex: `/${regex}/` }),
      };
    case 'custom':
    case 'interval': {
      const isAuto = type === 'interval' && values.includes('auto');
      const items = values
        .filter((value) => !(isAuto && value === 'auto'))
        .map((value) => value.replaceAll(',', String.raw`\,`));
      return {
        ...head,
        type,
        query: items.join(','),
        ...(type === 'custom' ? { multi, includeAll: all } : { auto: isAuto }),
        ...current,
      };
    }
    default:
      return { ...head, type: 'textbox', query: usual ?? '', ...current };
  }
}
