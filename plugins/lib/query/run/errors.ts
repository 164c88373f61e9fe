import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('query', {
  too_many_queries: [
    'rate_limited',
    '{running} queries run and {waiting} wait: try again in a moment',
  ],
  line_full: [
    'rate_limited',
    '{running} queries run and {waiting} wait: ask again when some have ended',
  ],
  wait_in_vain: [
    'rate_limited',
    '{waiting} queries wait before this one, which would take about {wait} s of its {timeout}: ask fewer at a time, or shorter ones',
  ],
});
