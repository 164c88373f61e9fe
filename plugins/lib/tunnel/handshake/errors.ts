import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('tunnel', {
  secret_key: ['invalid_argument', 'The secret key of this edge is invalid.'],
  hello_too_large: [
    'invalid_argument',
    'The hello and state messages of this edge do not fit into {strangerBytes} bytes.',
  ],
  handshake_failed: ['unavailable', 'The handshake failed with an internal error.'],
});
