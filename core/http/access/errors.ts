import { defineErrors } from '../../sdk/index.ts';

export const authErrors = defineErrors('auth', {
  provider_failed: [
    'unavailable',
    'The authenticator failed, so no caller can be authenticated at the moment; see the log for the cause.',
  ],
  provider_slow: ['unavailable', 'Authentication took too long; try again.'],
  not_narrowed: [
    'forbidden',
    'This request cannot be limited to the devices of your organization; ask an administrator.',
  ],
  credential_missing: ['unauthorized', 'Sign in first: send an Authorization header.'],
  credential_invalid: [
    'unauthorized',
    'The credential is not valid or has expired; sign in again.',
  ],
  not_allowed: ['forbidden', 'Your {holder} does not grant {right}.'],
  only_for: ['forbidden', 'This route is only for {audience}.'],
});
