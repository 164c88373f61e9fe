import { defineErrors } from '../../sdk/index.ts';

export const errors = defineErrors('http', {
  closed_twice: ['conflict', 'The server is closing already.'],
  certificate: [
    'invalid_argument',
    'http.tls_cert and http.tls_key are not a certificate and its key: {cause}',
  ],
  address_taken: [
    'unavailable',
    '{place} is in use by another process; stop it or set {setting} to a free address.',
  ],
  address_forbidden: [
    'unavailable',
    '{place} may not be opened by this user; set {setting} to a port above 1023.',
  ],
  listen_failed: ['unavailable', '{place} cannot be listened on ({cause}); check {setting}.'],
});
