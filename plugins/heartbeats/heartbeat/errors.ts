import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('heartbeats', {
  unknown: ['not_found', 'There is no heartbeat {name}.'],
  unknown_address: ['not_found', 'There is no heartbeat with this address.'],
  unknown_signal: [
    'not_found',
    '{signal} is not a signal; use start, fail or the exit code, 0 to 255.',
  ],
  taken: ['conflict', 'A heartbeat with the name {name} already exists.'],
  too_many: [
    'conflict',
    'The limit of {max} heartbeats has been reached; delete one that you no longer need.',
  ],
  one_pace: ['invalid_argument', 'Set either period_s or cron.'],
  sealed: [
    'unavailable',
    'The address of the heartbeat {name} cannot be decrypted; rotate it to get a new one.',
  ],
});
