import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert-source', {
  unproven: ['unauthorized', 'The push is not authenticated.'],
  not_taken: ['unavailable', 'Alerts cannot be accepted now: {why}'],
  unreadable: ['invalid_argument', 'The push is invalid: {why}'],
  taken: ['conflict', 'A source {key} already exists.'],
  too_many: ['conflict', 'The limit of {max} sources is reached; delete some that are not needed.'],
  not_enabled: ['not_found', 'There is no enabled source {key}.'],
  sealed: [
    'unavailable',
    'The signing secret of the source {key} cannot be decrypted; enter it again.',
  ],
  unknown: ['not_found', 'There is no source {id}.'],
});
