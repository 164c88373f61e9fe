import { defineErrors } from '../sdk/index.ts';

export const errors = defineErrors('auth', {
  proxy_no_address: [
    'invalid_argument',
    'SVC_TRUSTED_PROXIES contains "{entry}", which is neither an IP address nor a range such as 10.0.0.0/8.',
  ],
});
