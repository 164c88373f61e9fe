import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('model', {
  none: ['conflict', 'No model is configured: {setUp}'],
  no_provider: [
    'conflict',
    'The model "{id}" does not belong to any provider; specify it as <provider>/<model>, where the provider is one of {names}.',
  ],
  not_configured: [
    'conflict',
    'The model "{id}" is not available: its provider is not configured; {setUp}',
  ],
  no_list: ['upstream_error', '{provider} did not return a list of models.'],
  http: ['upstream_error', 'HTTP {status}'],
});
