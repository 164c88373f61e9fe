import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('im-wecom', {
  invalid_app: ['invalid_argument', '{field} {message}'],
});
