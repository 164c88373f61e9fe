import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('traces', {
  odd_answer: [
    'upstream_error',
    'The remote trace store does not respond like Tempo: {what}; check traces.remote_url.',
  ],
  no_echo: [
    'upstream_error',
    'The remote trace store does not respond like Tempo: it has no echo endpoint; check traces.remote_url.',
  ],
  remote_too_slow: [
    'unavailable',
    'The remote trace store timed out for some traces: request fewer traces.',
  ],
});
