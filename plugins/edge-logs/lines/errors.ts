import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-logs', {
  multiline_start: [
    'invalid_argument',
    'multiline_start "{text}" is not a valid RE2 expression: {cause}',
  ],
});
