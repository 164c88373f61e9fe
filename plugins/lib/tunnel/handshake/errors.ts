import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('tunnel', {
  secret_key: ['invalid_argument', 'the secret key of this edge is not one'],
  hello_too_large: [
    'invalid_argument',
    'hello and state of this edge do not fit into {strangerBytes} bytes',
  ],
  handshake_failed: ['unavailable', 'the handshake failed with an internal error'],
});
