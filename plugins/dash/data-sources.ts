/** Data source as Grafana accepts it, except for the token. */
export interface DataSource {
  readonly uid: string;
  readonly name: string;
  readonly type: 'prometheus' | 'loki' | 'tempo';
  readonly url: string;
  readonly access: 'proxy';
  readonly jsonData: Readonly<Record<string, unknown>>;
}

export interface Serving {
  readonly metrics: boolean;
  readonly logs: boolean;
  readonly traces: boolean;
}

export const metricsUid = 'svc-metrics';
export const logsUid = 'svc-logs';
export const tracesUid = 'svc-traces';

/** One for each store that serves; a trace leads to its lines, and a line with a trace id to its trace. */
export function dataSources(base: string, serving: Serving): readonly DataSource[] {
  const common = { access: 'proxy' } as const;
  const header = { httpHeaderName1: 'Authorization' };
  const sources: (DataSource | false)[] = [
    serving.metrics && {
      ...common,
      uid: metricsUid,
      name: 'svc metrics',
      type: 'prometheus',
      url: `${base}/prometheus`,
      jsonData: {
        ...header,
        httpMethod: 'POST',
        prometheusType: 'Prometheus',
        timeInterval: '15s',
      },
    },
    serving.logs && {
      ...common,
      uid: logsUid,
      name: 'svc logs',
      type: 'loki',
      url: base,
      jsonData: {
        ...header,
        maxLines: 1_000,
        ...(serving.traces && {
          derivedFields: [
            {
              name: 'trace',
              matcherRegex: 'trace_?[iI]d"?[=:]\\s?"?([0-9a-f]{16,32})',
              url: '${__value.raw}',
              datasourceUid: tracesUid,
            },
            {
              name: 'trace_id',
              matcherType: 'label',
              matcherRegex: 'trace_id',
              url: '${__value.raw}',
              datasourceUid: tracesUid,
            },
          ],
        }),
      },
    },
    serving.traces && {
      ...common,
      uid: tracesUid,
      name: 'svc traces',
      type: 'tempo',
      url: `${base}/tempo`,
      jsonData: {
        ...header,
        ...(serving.logs && {
          tracesToLogsV2: {
            datasourceUid: logsUid,
            filterByTraceID: true,
            spanStartTimeShift: '-5m',
            spanEndTimeShift: '5m',
          },
        }),
        ...(serving.metrics && { serviceMap: { datasourceUid: metricsUid } }),
      },
    },
  ];
  return sources.filter((source) => source !== false);
}
