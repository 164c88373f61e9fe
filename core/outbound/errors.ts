import { defineErrors } from '../sdk/index.ts';

export const errors = defineErrors('outbound', {
  redirects: ['upstream_error', '{origin} redirects more than {max} times.'],
  silent: ['upstream_error', '{origin} sent nothing for {seconds} s.'],
  no_url: ['invalid_argument', 'The address is not a URL; it starts with http:// or https://.'],
  scheme: ['invalid_argument', '{scheme}// is not supported; use http:// or https://.'],
  credentials_in_url: [
    'invalid_argument',
    'The address contains a user name or a password; use their own fields.',
  ],
  reply_too_large: ['upstream_error', 'The answer is larger than {max} bytes.'],
  stopped: ['unavailable', 'The call to {origin} was cancelled.'],
  timed_out: ['upstream_error', '{origin} did not answer within {seconds} s.'],
  failed: ['upstream_error', 'The call to {origin} failed: {cause}'],
  allowed_no_network: [
    'invalid_argument',
    'outbound.allow_private: "{text}" is not an address or a network such as 10.0.0.0/8.',
  ],
  host_unchecked: ['invalid_argument', '{host} is not an address that can be verified.'],
  never_called: [
    'invalid_argument',
    '{host} resolves to {address}, {kind}, which is never called.',
  ],
  not_loopback: ['invalid_argument', '{host} resolves to {address}, which is not this machine.'],
  not_allowed: [
    'invalid_argument',
    '{host} resolves to {address}, {kind}; list it in the setting outbound.allow_private if svc may call it.',
  ],
});
