import { defineErrors } from '../sdk/index.ts';

export const errors = defineErrors('events', {
  listener_late: ['unavailable', '{listener} did not finish within {ms} ms.'],
  event_no_data: [
    'invalid_argument',
    'Event {type} carries {what}{at}; events must be plain data (objects, lists, text, numbers).',
  ],
});
