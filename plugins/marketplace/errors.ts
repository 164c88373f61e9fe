import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('marketplace', {
  folder_for_administrators: [
    'forbidden',
    'only an administrator installs from a folder of the machine of svc',
  ],
});
