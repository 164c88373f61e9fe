import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('notify', {
  unknown_type: ['invalid_argument', 'channel_type {message}'],
  invalid_endpoint: ['invalid_argument', 'endpoint {message}'],
  invalid_secret: ['invalid_argument', 'secret {message}'],
  no_way: [
    'invalid_argument',
    'A channel type needs either code, or both body and max_text_bytes.',
  ],
});
