import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('logs', {
  no_such_endpoint: ['not_found', 'There is no endpoint {name}.'],
});
