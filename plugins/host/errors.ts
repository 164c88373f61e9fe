import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('host', {
  own_plugin: [
    'conflict',
    '"{plugin}" serves this API and cannot be disabled here: no request could enable it again.',
  ],
});
