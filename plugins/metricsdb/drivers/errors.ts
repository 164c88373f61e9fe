import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('metricsdb', {
  store_closed: ['unavailable', 'The embedded metrics store is not in use.'],
  no_programs: [
    'unavailable',
    'The metrics store cannot run: the driver process needs the programs plugin, which is not active.',
  ],
  no_program: ['unavailable', 'The metrics store cannot run: {wanted} a program on this machine.'],
  no_url: ['conflict', 'metricsdb.url is not set: the remote metrics store has no address.'],
  not_prometheus: [
    'upstream_error',
    '{origin} responded, but not with a Prometheus API response: use the part of the address before /api/v1.',
  ],
  credentials_refused: [
    'upstream_error',
    '{origin} rejected the credentials (status {status}): check metricsdb.token, metricsdb.user and metricsdb.tenant.',
  ],
  no_such_api: [
    'upstream_error',
    '{origin} does not have this part of the Prometheus API (status 404): use the part of the address before /api/v1.',
  ],
  remote_status: ['upstream_error', '{origin} responded with status {status}{detail}.'],
  samples_refused: ['unavailable', '{origin} rejected the samples with status {status}.'],
  push_refused: [
    'unavailable',
    '{origin} is not accepting samples at the moment (status {status}): {remedy}.',
  ],
  driver_is_set: [
    'conflict',
    'metricsdb.driver is set to {set}, which takes precedence: change or reset that setting.',
  ],
  retention_is_set: [
    'conflict',
    'metricsdb.retention is set to {value}, which takes precedence: change or reset that setting.',
  ],
  not_answering: [
    'unavailable',
    'The {name} metrics store was started but does not respond: {detail}',
  ],
  remote_failed: ['upstream_error', '{cause}'],
});
