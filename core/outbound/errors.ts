import { defineErrors } from '../sdk/index.ts';

export const errors = defineErrors('outbound', {
  redirects: ['upstream_error', '{origin} redirects more than {max} times.'],
  silent: ['upstream_error', '{origin} was silent for {seconds} s.'],
  no_url: ['invalid_argument', 'The address is not a URL; it starts with http:// or https://.'],
  scheme: ['invalid_argument', '{scheme}// is not supported; use http:// or https://.'],
  credentials_in_url: [
    'invalid_argument',
    'The address holds a user name or a password; they have fields of their own.',
  ],
  reply_too_large: ['upstream_error', 'The answer is larger than {max} bytes.'],
  stopped: ['unavailable', 'The call to {origin} was stopped.'],
  timed_out: ['upstream_error', '{origin} did not answer within {seconds} s.'],
  failed: ['upstream_error', '{origin} could not be called: {cause}'],
  allowed_no_network: [
    'invalid_argument',
    'outbound.allow_private: "{text}" is not an address or a network such as 10.0.0.0/8.',
  ],
  host_unchecked: ['invalid_argument', '{host} is not an address that can be checked.'],
  never_called: ['invalid_argument', '{host} leads to {address}, {kind}, which is never called.'],
  not_loopback: ['invalid_argument', '{host} leads to {address}, which is not this machine.'],
  not_allowed: [
    'invalid_argument',
    '{host} leads to {address}, {kind}; list it in the setting outbound.allow_private if svc may call it.',
  ],
});
