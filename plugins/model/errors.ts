import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('model', {
  stopped: ['unavailable', 'The model call was cancelled before it was sent.'],
  request: ['invalid_argument', '{path} {message}'],
});
