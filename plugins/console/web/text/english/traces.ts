import { words } from '../words.ts';

export const traces = words('traces', {
  title: 'Traces',
  query: 'TraceQL query',
  name: 'What',
  service: 'Service',
  took: 'Took',
  at: 'When',
  none: 'No trace is like this.',
  noneNote: 'Programs send them by OTLP to /v1/traces; svc itself sends one of each slow request.',
});

export const serviceMap = words('service-map', {
  title: 'Service map',
  map: 'Which service calls which: {calls}',
  calls: '{count}×|{count}×',
  from: 'Service',
  to: 'calls',
  times: 'Times',
  mean: 'On average',
  failed: 'Failed',
});

export const trace = words('trace', {
  noSuch: 'There is no trace {id}.',
  back: 'All traces',
  spans: 'one span|{count} spans',
  services: 'one service|{count} services',
  failed: 'failed',
  waterfall: 'Spans by their time',
  service: 'Service',
  took: 'Took',
  began: 'Began after',
  kind: 'Kind',
  state: 'State',
});
