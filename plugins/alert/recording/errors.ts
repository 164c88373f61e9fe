import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert', {
  recording_field: ['invalid_argument', '{field}: {message}'],
  no_store_to_record: [
    'unavailable',
    'the metrics store is not running, so the expression cannot be checked; try again when it is',
  ],
  too_many_recordings: [
    'conflict',
    'the limit of {max} recording rules is reached; delete some of them first',
  ],
  no_recording: ['not_found', 'there is no recording rule {id}'],
});
