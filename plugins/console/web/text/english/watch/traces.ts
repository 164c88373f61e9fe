import { words } from '../../words.ts';

export const traces = words('traces', {
  title: 'Traces',
  query: 'TraceQL query',
  name: 'Trace',
  service: 'Service',
  devices: 'Devices',
  took: 'Duration',
  at: 'Started',
  none: 'No matching traces',
  noneNote: 'Send traces over OTLP to /v1/traces. svc also records its own slow requests.',
});

export const serviceMap = words('service-map', {
  title: 'Service map',
  map: 'Calls between services: {calls}',
  calls: '{count}×|{count}×',
  from: 'Service',
  to: 'Calls',
  times: 'Requests',
  mean: 'Mean duration',
  failed: 'Failed',
});

export const trace = words('trace', {
  notFound: 'Trace {id} not found',
  back: 'All traces',
  spans: '1 span|{count} spans',
  services: '1 service|{count} services',
  failed: 'failed',
  waterfall: 'Spans by start time',
  service: 'Service',
  took: 'Duration',
  began: 'Started after',
  kind: 'Kind',
  state: 'State',
  device: 'Device',
  self: 'Own work',
  waited: 'Waited for',
  share: 'Share',
  span: 'Span',
  criticalPath: 'Critical path',
  logs: 'Logs of this time',
  traceLogs: 'Logs of this trace',
  ofService: 'Service figures',
  compare: 'Compare with another trace',
  other: 'Trace ID',
  here: 'Here',
  there: 'There',
  difference: 'Difference',
});

export const service = words('service', {
  title: 'Service {name}',
  rate: 'Requests',
  errors: 'Failed requests',
  durations: 'Durations',
});
