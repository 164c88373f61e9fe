import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('im', {
  full: ['unavailable', 'Too many messages are waiting for answers; send this one again later.'],
  no_platform: ['unavailable', 'The plugin for the platform {provider} is not enabled.'],
  unproven: ['unauthorized', 'The callback is not authenticated.'],
});
