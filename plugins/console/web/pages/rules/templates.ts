import type { templateNotes } from '../../text/english/alerting/rule-templates.ts';
import type { RuleDraft } from './rule.ts';

/** Subjects that templates watch; templates of one subject stand together. */
export const subjects = ['host', 'service', 'check', 'log', 'data', 'own'] as const;
export type Subject = (typeof subjects)[number];

type Body = Pick<RuleDraft, 'kind' | 'conditions'> &
  Partial<Pick<RuleDraft, 'scope_type' | 'severity' | 'dimensions' | 'runbook_url'>>;

/** A rule to start from; its name, and the note below it, are in the catalogue. */
export interface Template {
  readonly id: keyof typeof templateNotes;
  readonly subject: Subject;
  readonly body: Body;
}

const metric = (expr: string, lasting?: string): Body => ({
  kind: 'metric_raw',
  conditions: [{ expr, ...(lasting !== undefined && { for: lasting }) }],
});

export const templates: readonly Template[] = [
  {
    id: 'cpu',
    subject: 'host',
    body: {
      ...metric('avg_over_time(node_cpu_usage_percent[5m]) > 90', '5m'),
      runbook_url: 'playbook://hosts/cpu-high.md',
    },
  },
  {
    id: 'memory',
    subject: 'host',
    body: {
      ...metric('avg_over_time(node_memory_used_percent[5m]) > 90', '5m'),
      runbook_url: 'playbook://hosts/memory-high.md',
    },
  },
  {
    id: 'disk',
    subject: 'host',
    body: {
      ...metric('node_filesystem_used_percent > 90', '5m'),
      severity: 'critical',
      dimensions: ['mountpoint'],
      runbook_url: 'playbook://hosts/disk-full.md',
    },
  },
  {
    id: 'diskSoon',
    subject: 'host',
    body: {
      kind: 'metric_forecast',
      conditions: [
        { metric: 'node_filesystem_used_percent', window: '6h', forecast_for: '24h', above: 95 },
      ],
      dimensions: ['mountpoint'],
    },
  },
  {
    id: 'offline',
    subject: 'host',
    body: {
      ...metric('max by (device_id) (svc_edge_online or svc_host_online) == 0', '1m'),
      severity: 'critical',
    },
  },
  {
    id: 'latency',
    subject: 'service',
    body: {
      kind: 'trace_latency',
      scope_type: 'global',
      conditions: [{ service: 'shop', percentile: 99, above_ms: 500, window: '5m', for: '5m' }],
    },
  },
  {
    id: 'failures',
    subject: 'service',
    body: {
      kind: 'trace_error_rate',
      scope_type: 'global',
      severity: 'critical',
      conditions: [{ service: 'shop', above_percent: 5, window: '5m' }],
    },
  },
  {
    id: 'budget',
    subject: 'service',
    body: {
      kind: 'metric_burn_rate',
      scope_type: 'global',
      severity: 'critical',
      conditions: [
        {
          good: 'http_requests_total{code!~"5.."}',
          total: 'http_requests_total',
          slo: 0.99,
          long: '1h',
          short: '5m',
        },
      ],
    },
  },
  {
    id: 'checkDown',
    subject: 'check',
    body: {
      ...metric('svc_check_up == 0'),
      scope_type: 'global',
      severity: 'critical',
      dimensions: ['check'],
    },
  },
  {
    id: 'checkSlow',
    subject: 'check',
    body: {
      ...metric('avg by (check) (avg_over_time(probe_duration_seconds[10m])) > 1', '10m'),
      scope_type: 'global',
      dimensions: ['check'],
    },
  },
  {
    id: 'certificate',
    subject: 'check',
    body: {
      ...metric('(min by (check) (probe_ssl_earliest_cert_expiry) - time()) / 86400 < 14'),
      scope_type: 'global',
      dimensions: ['check'],
    },
  },
  {
    id: 'logLine',
    subject: 'log',
    body: {
      kind: 'log_match',
      conditions: [{ expr: '{device_id=~".+"} |= "Out of memory"' }],
    },
  },
  {
    id: 'logMany',
    subject: 'log',
    body: {
      kind: 'log_volume',
      conditions: [
        { expr: 'sum by (device_id) (count_over_time({device_id=~".+"} |= "error" [5m])) > 100' },
      ],
    },
  },
  {
    id: 'absent',
    subject: 'data',
    body: {
      ...metric('absent(up{job="node"})', '5m'),
      scope_type: 'global',
      runbook_url: 'playbook://alerting/absent-data.md',
    },
  },
  {
    id: 'stopped',
    subject: 'data',
    body: metric('last_over_time(node_load1[1h]) unless last_over_time(node_load1[10m])'),
  },
  {
    id: 'anomaly',
    subject: 'own',
    body: {
      kind: 'metric_anomaly',
      conditions: [{ metric: 'node_load1', window: '1h', z_threshold: 3, for: '5m' }],
    },
  },
  {
    id: 'own',
    subject: 'own',
    body: metric('node_load1 > 4', '5m'),
  },
];
