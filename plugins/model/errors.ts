import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('model', {
  stopped: ['unavailable', 'the model call was stopped before it was sent'],
  request: ['invalid_argument', '{path} {message}'],
});
