import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('model', {
  none: ['conflict', 'no model is set up: {setUp}'],
  no_provider: [
    'conflict',
    'the model "{id}" is of no provider; a model is named <provider>/<model> with one of {names}',
  ],
  not_configured: [
    'conflict',
    'the model "{id}" cannot be asked: its provider is not set up; {setUp}',
  ],
  http: ['upstream_error', 'HTTP {status}'],
});
