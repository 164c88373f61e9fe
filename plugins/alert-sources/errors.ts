import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert-source', {
  unproven: ['unauthorized', 'the push is not proven'],
  not_taken: ['unavailable', 'alerts are not taken now: {why}'],
  unreadable: ['invalid_argument', 'the push cannot be read: {why}'],
  taken: ['conflict', 'there is a source {key} already'],
  too_many: [
    'conflict',
    'there are {max} sources already, the limit; delete one that tells nothing any more',
  ],
  not_enabled: ['not_found', 'there is no source {key} that is enabled'],
  sealed: [
    'unavailable',
    'the signing secret of the source {key} cannot be opened; enter it again',
  ],
  unknown: ['not_found', 'there is no source {id}'],
});
