import { defineErrors } from '../../sdk/index.ts';

export const errors = defineErrors('http', {
  closed_twice: ['conflict', 'The server is shutting down.'],
  certificate: ['invalid_argument', 'http.tls_cert and http.tls_key do not match: {cause}'],
  address_taken: [
    'unavailable',
    '{place} is in use by another process; stop it or set {setting} to a free address.',
  ],
  address_forbidden: [
    'unavailable',
    'Listening on {place} requires more permissions than this user has; set {setting} to a port above 1023.',
  ],
  listen_failed: ['unavailable', 'Listening on {place} failed ({cause}); check {setting}.'],
});
