import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('tunnel', {
  dial_failed: ['unavailable', '{url}: {cause}'],
  proxy_address: [
    'invalid_argument',
    'the proxy is no address that this machine can use: write it like http://proxy.example.org:3128',
  ],
  proxy_failed: ['unavailable', 'the proxy {host} {why}'],
  no_tunnel: ['unavailable', '{url} answered {status} and no tunnel'],
});
