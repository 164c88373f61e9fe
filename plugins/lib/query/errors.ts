import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('query', {
  duration: [
    'invalid_argument',
    'not a valid duration string: {text}; write it like 1h30m, 15s or 500ms',
  ],
  duration_range: ['invalid_argument', 'duration out of range: {text}'],
  go_duration: [
    'invalid_argument',
    'not a valid duration: {text}; write it like 1.5h, 300ms or 10µs',
  ],
  last: [
    'invalid_argument',
    'last must be between 1ms and 31d, and until a time such as 2026-01-31T14:00:00Z',
  ],
  pattern: ['invalid_argument', 'the regular expression is refused: {why}'],
  no_remote_url: [
    'unavailable',
    '{plugin}.driver is remote and {plugin}.remote_url is empty: set the address of a {product}',
  ],
  remote_busy: ['rate_limited', '{server} is busy: {reason}'],
  remote_failed: ['upstream_error', '{server} {cause}'],
  too_many_queries: [
    'rate_limited',
    '{running} queries run and {waiting} wait: try again in a moment',
  ],
  pattern_syntax: ['invalid_argument', '{cause}'],
  line_full: [
    'rate_limited',
    '{running} queries run and {waiting} wait: ask again when some have ended',
  ],
  wait_in_vain: [
    'rate_limited',
    '{waiting} queries wait before this one, which would take about {wait} s of its {timeout}: ask fewer at a time, or shorter ones',
  ],
});
