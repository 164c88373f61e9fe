import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert', {
  query_not_started: [
    'unavailable',
    'the query did not start in time: slower queries were before it, or svc itself is too busy',
  ],
  unanswered: ['upstream_error', 'the back end left a query without an answer'],
  too_slow: ['unavailable', '{what} within {seconds} s'],
  no_store: ['unavailable', 'the {store} store is not running; enable its plugin'],
  no_answer: ['upstream_error', '{cause}'],
});
