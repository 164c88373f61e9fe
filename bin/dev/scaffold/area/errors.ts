import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('plugin-id', {
  full: [
    'conflict',
    'There are {max} entries, which is the limit in the setting {setting}; raise it.',
  ],
});
