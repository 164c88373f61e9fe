import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('gate', {
  arguments_deep: [
    'invalid_argument',
    'The arguments are nested more than {max} levels deep; reduce the nesting.',
  ],
});
