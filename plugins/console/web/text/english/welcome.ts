import { words } from '../words.ts';

export const welcome = words('welcome', {
  signIn: 'Sign in',
  email: 'Email',
  password: 'Password',
  name: 'Your name',
  setupTitle: 'Create the first administrator',
  setupNote: 'This link works once and grants full access. You can add more users later.',
  setupSubmit: 'Create administrator',
  passwordHint: 'At least 10 characters.',
  waitTitle: 'svc has no administrator yet',
  waitNote:
    'Open the setup link that svc printed at start-up. Its token works once and is stored in the data folder:',
  waitFile: 'plugins/session/setup-token',
  waitAdd: 'Append this to the address of this page:',
  ended:
    'Your session has ended: it expired, or your account or role was changed. Sign in to return to this page.',
  other:
    'A different user has signed in from another tab of this browser. No further changes were made here.',
  register: 'Create account',
  haveAccount: 'I already have an account',
  made: 'Account created. Sign in to continue.',
  forgot: 'Forgot password?',
  forgotTitle: 'Reset password',
  forgotNote: 'We will email you a reset link. It works once and expires after 30 minutes.',
  forgotSubmit: 'Send reset link',
  sent: 'If there is an account with this email address, a reset link is on its way.',
  back: 'Back to sign-in',
  another: 'Request another link',
  resetTitle: 'Set a new password',
  resetNote: 'Setting a new password signs you out everywhere and revokes your API tokens.',
  resetSubmit: 'Set password',
  reset: 'Password changed. Sign in with the new one.',
});
