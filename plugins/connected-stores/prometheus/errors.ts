import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('connected-stores', {
  refused: ['upstream_error', '{host} answered with status {status}{detail}.'],
  not_prometheus: [
    'upstream_error',
    '{host} answered, but not like the Prometheus API: use the part of the address before /api/v1.',
  ],
});
