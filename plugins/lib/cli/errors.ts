import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('cli', {
  file_in_use: [
    'conflict',
    'another svc command is using {file}: wait until it ends, or delete the file if none is running',
  ],
  profiles_damaged: [
    'invalid_argument',
    '{file} is not a valid file of profiles: delete it, and sign in again with "svc login"',
  ],
});
