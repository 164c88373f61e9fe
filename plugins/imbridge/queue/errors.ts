import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('im', {
  full: ['unavailable', 'too many messages wait for their answers; send it again later'],
  no_platform: ['unavailable', 'the plugin of the platform {provider} is not enabled'],
  unproven: ['unauthorized', 'the callback is not proven'],
});
