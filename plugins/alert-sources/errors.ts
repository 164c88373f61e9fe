import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert-source', {
  unproven: ['unauthorized', 'The push is not authenticated.'],
  not_taken: ['unavailable', 'Alerts cannot be accepted at the moment: {why}'],
  unreadable: ['invalid_argument', 'The push is invalid: {why}'],
  taken: ['conflict', 'A source with the key {key} already exists.'],
  too_many: [
    'conflict',
    'The limit of {max} sources has been reached; delete some that you no longer need.',
  ],
  not_enabled: ['not_found', 'There is no enabled source {key}.'],
  sealed: [
    'unavailable',
    'The signing secret of the source {key} cannot be decrypted; enter it again.',
  ],
  unknown: ['not_found', 'There is no source {id}.'],
});
