import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('marketplace', {
  no_folder: [
    'invalid_argument',
    '{folder} is no folder on the machine of svc ({cause}); name one by its absolute path',
  ],
});
