import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('traces', {
  odd_answer: [
    'upstream_error',
    'the remote trace store does not answer as Tempo does: {what}; is traces.remote_url right?',
  ],
  no_echo: [
    'upstream_error',
    'the remote trace store does not answer as Tempo does: it has no echo; is traces.remote_url right?',
  ],
  remote_too_slow: [
    'unavailable',
    'the remote trace store did not answer for all traces in time: ask for fewer',
  ],
});
