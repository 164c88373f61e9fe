import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('connected-stores', {
  host_rule: ['invalid_argument', 'The host rule for the label {label} is invalid: {cause}'],
});
