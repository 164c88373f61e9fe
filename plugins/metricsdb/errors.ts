import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('metricsdb', {
  no_alert_rules: ['not_found', 'there are no alert rules: the plugin alert is not installed'],
  rule_type: [
    'invalid_argument',
    'not supported value {type} for the parameter type: it is alert or record',
  ],
  store_closed: ['unavailable', 'the embedded metrics store is not in use'],
  no_programs: [
    'unavailable',
    'the metrics store cannot run: the driver process needs the plugin programs, which is not active',
  ],
  no_program: ['unavailable', 'the metrics store cannot run: {wanted} a program on this machine'],
  no_url: ['conflict', 'metricsdb.url is not set: the remote metrics store has no address'],
  not_prometheus: [
    'upstream_error',
    '{origin} answered, but not as the Prometheus API does: is it the address before /api/v1?',
  ],
  credentials_refused: [
    'upstream_error',
    '{origin} does not accept the credentials of this service (status {status}): look at metricsdb.token, metricsdb.user and metricsdb.tenant',
  ],
  no_such_api: [
    'upstream_error',
    '{origin} does not know this part of the Prometheus API (status 404): is it the address before /api/v1?',
  ],
  remote_status: ['upstream_error', '{origin} answered with status {status}{detail}'],
  samples_refused: ['unavailable', '{origin} took no samples: it answered {status}'],
  driver_is_set: [
    'conflict',
    'metricsdb.driver is set to {set}, which has the last word: change or remove that setting',
  ],
  retention_is_set: [
    'conflict',
    'metricsdb.retention is set to {value}, which has the last word: change or remove that setting',
  ],
  not_answering: [
    'unavailable',
    'the {name} metrics store was started, but does not answer: {detail}',
  ],
  odd_answer: [
    'upstream_error',
    'the remote metrics store did not answer as the Prometheus API does: {what}',
  ],
  not_signed_in: ['unauthorized', 'no valid session or API token came with this request'],
  all_devices_only: [
    'forbidden',
    'what stands behind this proxy shows all devices, and your organization sees some alone; ask an administrator',
  ],
  scratch_full: ['budget_exceeded', 'a scratch store holds {max} samples at most'],
  scratch_order: ['invalid_argument', 'samples of a series must come in the order of their times'],
  too_many_scratches: [
    'rate_limited',
    '{max} scratch stores are in use already; try again when one is closed',
  ],
  scratch_closed: [
    'not_found',
    'the scratch store is closed: it was idle for five minutes, or its thread was restarted; open another',
  ],
  step: ['invalid_argument', 'step must be a duration such as 1m'],
  block_layout: [
    'unavailable',
    'metrics store: a block has layout {version}, this svc reads up to {max}; upgrade svc, or remove the block',
  ],
  record_cut_short: [
    'internal',
    'metrics store: a record ends too early; its block or WAL segment is damaged',
  ],
  exposition_utf8: ['invalid_argument', 'the exposition cannot be read: it is not valid UTF-8'],
  exposition_line: ['invalid_argument', 'the exposition cannot be read: line {line}: {what}'],
  otlp_json: ['invalid_argument', 'OTLP: the body is no JSON'],
  encoding: [
    'invalid_argument',
    'the encoding "{encoding}" is not read here; snappy, gzip and none are',
    415,
  ],
  first_symbol: [
    'invalid_argument',
    'the body is no remote write request: its first symbol is not empty',
  ],
  remote_write: [
    'invalid_argument',
    'the body is no remote write request: its protobuf is corrupt',
  ],
  no_store: [
    'unavailable',
    'the embedded metrics store is not in use: another driver is set, or it could not be opened',
  ],
  head_full: [
    'rate_limited',
    'metrics store: the head is full and is being written to disk; retry in a moment',
  ],
  remote_failed: ['upstream_error', '{cause}'],
});
