import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('traces', {
  odd_answer: [
    'upstream_error',
    'the remote trace store does not answer as Tempo does: {what}; is traces.remote_url right?',
  ],
  no_echo: [
    'upstream_error',
    'the remote trace store does not answer as Tempo does: it has no echo; is traces.remote_url right?',
  ],
  remote_too_slow: [
    'unavailable',
    'the remote trace store did not answer for all traces in time: ask for fewer',
  ],
  trace_unreadable: ['unavailable', 'the trace may lie in what cannot be read: {warnings}'],
  out_of_range: ['invalid_argument', '{name} must be from 1 to {max}'],
  no_trace: ['not_found', 'there is no trace {id}'],
  value_depth: ['internal', 'a value is nested deeper than any that is written'],
  value_type: ['internal', 'a value has type {type}, which this version does not know'],
  otlp: ['invalid_argument', 'OTLP: {what}'],
  otlp_json: ['invalid_argument', 'OTLP: the body is no JSON: {cause}'],
  body_size: [
    'invalid_argument',
    'the body has more than {max} bytes: send it in smaller parts',
    413,
  ],
  encoding: [
    'invalid_argument',
    'traces are taken as they are or with gzip, not with {encoding}',
    415,
  ],
  wire_type: ['invalid_argument', 'protobuf: a field has wire type {wire} where 2 was expected'],
  record_version: [
    'unavailable',
    'trace store: a WAL record has version {found}, which this svc does not know; upgrade svc',
  ],
  relay_full: [
    'rate_limited',
    '{max} pushes are on their way to the remote trace store: wait a moment',
  ],
  store_closed: ['unavailable', 'the trace store is closed; retry in a moment'],
  blocks_behind: [
    'rate_limited',
    'trace store: spans come faster than blocks are written; retry in a moment',
  ],
  not_ready: ['unavailable', '{detail}'],
});
