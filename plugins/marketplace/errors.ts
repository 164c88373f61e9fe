import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('marketplace', {
  folder_for_administrators: [
    'forbidden',
    'Only an administrator can install from a folder on the machine that runs svc.',
  ],
});
