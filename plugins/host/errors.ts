import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('host', {
  own_plugin: [
    'conflict',
    '"{plugin}" serves this API: if it were disabled, no request could enable it again.',
  ],
});
