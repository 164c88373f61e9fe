import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('query', {
  no_remote_url: [
    'unavailable',
    '{plugin}.driver is remote, but {plugin}.remote_url is empty: set it to the address of a {product} server.',
  ],
  remote_busy: ['rate_limited', '{server} is busy: {reason}'],
  remote_failed: ['upstream_error', '{server} {cause}'],
});
