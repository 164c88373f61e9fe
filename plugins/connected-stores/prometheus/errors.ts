import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('connected-stores', {
  refused: ['upstream_error', '{host} responded with status {status}{detail}.'],
  not_prometheus: [
    'upstream_error',
    '{host} responded, but not with a Prometheus API response: use the part of the address before /api/v1.',
  ],
});
