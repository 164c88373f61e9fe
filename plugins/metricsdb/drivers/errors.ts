import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('metricsdb', {
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
  remote_failed: ['upstream_error', '{cause}'],
});
