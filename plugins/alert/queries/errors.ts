import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert', {
  query_not_started: [
    'unavailable',
    'The query did not start in time: slower queries ran first, or svc is too busy.',
  ],
  silent: ['unavailable', 'The {store} store is not responding: {cause}'],
  unanswered: ['upstream_error', 'The backend did not respond to the query.'],
  too_slow: ['unavailable', '{what} within {seconds} s.'],
  no_store: ['unavailable', 'The {store} store is not running; enable its plugin.'],
  no_answer: ['upstream_error', '{cause}'],
});
