import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert', {
  recording_field: ['invalid_argument', '{field}: {message}'],
  no_store_to_record: [
    'unavailable',
    'The metrics store is not running, so the expression cannot be checked; try again later.',
  ],
  too_many_recordings: [
    'conflict',
    'The limit of {max} recording rules has been reached; delete some first.',
  ],
  no_recording: ['not_found', 'There is no recording rule {id}.'],
});
