import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('logs', {
  odd_answer: [
    'upstream_error',
    'the remote log store does not answer as Loki does: {what}; is logs.remote_url right?',
  ],
  no_endpoint: ['not_found', 'there is no endpoint {name}'],
  parameter_length: ['invalid_argument', '{key} is longer than {max} characters'],
  too_many_parameters: [
    'invalid_argument',
    'the form has {count} parameters; at most {max} are read',
  ],
  push_format: ['invalid_argument', 'there is no push format {format}'],
  encoding: [
    'invalid_argument',
    'the body is encoded with {packing}; gzip, snappy and none are read',
    415,
  ],
  push_json: ['invalid_argument', 'the body is not JSON: {cause}'],
  push_shape: ['invalid_argument', 'the body is no push of streams: {where} must be {expected}'],
  too_many_labels: [
    'invalid_argument',
    "couldn't parse labels: a stream has more than {max} labels",
  ],
  label_escape: [
    'invalid_argument',
    "couldn't parse labels: 1:{start}: parse error: the value has an escape that is none of Go's",
  ],
  label_syntax: ['invalid_argument', "couldn't parse labels: 1:{at}: parse error: {what}"],
  record_version: [
    'unavailable',
    'log store: a WAL record has version {found}, this svc reads {version}; upgrade svc',
  ],
  no_stream: ['invalid_argument', 'error at least one valid stream is required for ingestion', 422],
  wal_behind: [
    'rate_limited',
    'log store: the WAL does not keep up with the pushes; retry in a moment',
  ],
  delay: ['invalid_argument', "delay_for can't be greater than {max}"],
  too_many_tails: [
    'rate_limited',
    'max concurrent tail requests limit exceeded, count > limit ({count} > {max})',
  ],
  tail_ended: [
    'not_found',
    'this tail has ended because the log store was restarted: open it again',
  ],
  too_many_own_tails: [
    'rate_limited',
    '{count} live tails of yours are open, and no more are allowed: close one',
  ],
  not_ready: ['unavailable', '{detail}'],
  streams_refused: ['rate_limited', '{reason}'],
  no_room: ['unavailable', '{trouble}'],
  no_tails: ['conflict', '{refusal}'],
});
