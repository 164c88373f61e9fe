import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('connected-stores', {
  unknown: ['not_found', 'There is no connected store {name}.'],
  taken: ['conflict', 'A connected store named {name} already exists.'],
  too_many: [
    'conflict',
    'The limit of {max} connected stores has been reached; disconnect one that you no longer need.',
  ],
  long_history: ['invalid_argument', 'A history of {history} is too long; at most 30d are copied.'],
  not_connected: ['upstream_error', 'Not connected: {detail}.'],
  sealed: [
    'unavailable',
    'The credentials of the connected store {name} cannot be decrypted; enter them again.',
  ],
  no_devices: ['unavailable', 'Devices are not available at the moment.'],
});
