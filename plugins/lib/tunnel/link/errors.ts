import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('tunnel', {
  dial_failed: ['unavailable', '{url}: {cause}'],
  proxy_address: [
    'invalid_argument',
    'The proxy address is invalid: use the form http://proxy.example.org:3128.',
  ],
  proxy_failed: ['unavailable', 'The proxy {host} {why}'],
  no_tunnel: ['unavailable', '{url} responded with status {status} instead of opening a tunnel.'],
});
