import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('connected-stores', {
  unknown: ['not_found', 'There is no connected store {name}.'],
  taken: ['conflict', 'A connected store with the name {name} already exists.'],
  too_many: [
    'conflict',
    'The limit of {max} connected stores has been reached; disconnect one that you no longer need.',
  ],
  not_connected: ['upstream_error', 'Not connected: {detail}.'],
  host_rule: ['invalid_argument', 'The host rule for the label {label} is invalid: {cause}'],
  sealed: [
    'unavailable',
    'The credentials of the connected store {name} cannot be decrypted; enter them again.',
  ],
  refused: ['upstream_error', '{host} answered with status {status}{detail}.'],
  not_prometheus: [
    'upstream_error',
    '{host} answered, but not like the Prometheus API: use the part of the address before /api/v1.',
  ],
  too_long: [
    'upstream_error',
    '{host} has more than {max} series for {what}; only these were read.',
  ],
  no_devices: ['unavailable', 'Devices are not available at the moment.'],
});
