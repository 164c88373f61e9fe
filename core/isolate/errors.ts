import { defineErrors } from '../sdk/index.ts';

export const errors = defineErrors('isolate', {
  thread_lost: ['unavailable', '{label} ended during the call: {cause}.'],
  thread_down: ['unavailable', '{label} is {state}{cause}'],
  calls_taken: ['unavailable', '{label} has {max} calls in progress; try again.'],
  call_late: ['unavailable', '{label} did not respond to {method} within {ms} ms{cause}'],
  thread_ended: ['unavailable', '{label} has ended.'],
  thread_failed: ['unavailable', '{label} {cause}.'],
  worker_imported: [
    'internal',
    'A worker file was imported: import the file with its open function instead.',
  ],
  call_given_up: ['unavailable', 'The caller has disconnected.'],
  thread_closing: ['unavailable', 'The thread is closing.'],
});
