import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('query', {
  too_many_queries: [
    'rate_limited',
    '{running} queries are running and {waiting} waiting: try again in a moment.',
  ],
  line_full: [
    'rate_limited',
    '{running} queries are running and {waiting} waiting: try again when some have finished.',
  ],
  wait_in_vain: [
    'rate_limited',
    '{waiting} queries wait before this one, which would take about {wait} s of its {timeout}: run fewer or shorter queries at a time.',
  ],
});
