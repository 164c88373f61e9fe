import { defineErrors } from '../sdk/index.ts';

export const errors = defineErrors('outbound', {
  redirects: ['upstream_error', '{origin} redirected more than {max} times.'],
  silent: ['upstream_error', '{origin} sent no data for {seconds} s.'],
  no_url: [
    'invalid_argument',
    'The address is not a valid URL; it must start with http:// or https://.',
  ],
  scheme: ['invalid_argument', '{scheme}// is not supported; use http:// or https://.'],
  credentials_in_url: [
    'invalid_argument',
    'The address contains a user name or a password; use the separate fields for them.',
  ],
  reply_too_large: ['upstream_error', 'The response is larger than {max} bytes.'],
  stopped: ['unavailable', 'The call to {origin} was cancelled.'],
  timed_out: ['upstream_error', '{origin} did not respond within {seconds} s.'],
  failed: ['upstream_error', 'The call to {origin} failed: {cause}'],
  allowed_no_network: [
    'invalid_argument',
    'outbound.allow_private: "{text}" is not an address or a network such as 10.0.0.0/8.',
  ],
  host_unchecked: [
    'invalid_argument',
    '{host} is not an IP address, so it cannot be checked against the allowed networks.',
  ],
  never_called: [
    'invalid_argument',
    '{host} resolves to {address}, {kind}, which svc never connects to.',
  ],
  not_loopback: ['invalid_argument', '{host} resolves to {address}, which is not this machine.'],
  not_allowed: [
    'invalid_argument',
    '{host} resolves to {address}, {kind}; if svc may connect to it, add it to the setting outbound.allow_private.',
  ],
});
