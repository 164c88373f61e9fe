import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('model', {
  none: ['conflict', 'No model is configured: {setUp}'],
  no_provider: [
    'conflict',
    'The model "{id}" belongs to no provider; name a model as <provider>/<model> with one of {names}.',
  ],
  not_configured: [
    'conflict',
    'The model "{id}" is not available: its provider is not configured; {setUp}',
  ],
  http: ['upstream_error', 'HTTP {status}'],
});
