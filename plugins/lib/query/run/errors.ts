import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('query', {
  too_many_queries: [
    'rate_limited',
    '{running} queries are running and {waiting} are waiting: try again in a moment.',
  ],
  line_full: [
    'rate_limited',
    '{running} queries are running and {waiting} are waiting: try again when some have finished.',
  ],
  wait_in_vain: [
    'rate_limited',
    '{waiting} queries are ahead of this one; waiting for them would take about {wait} s, but the timeout of this query is {timeout} s: run fewer or shorter queries at a time.',
  ],
});
