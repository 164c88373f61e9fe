import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('store', {
  not_writable: ['unavailable', '{problem}'],
});
