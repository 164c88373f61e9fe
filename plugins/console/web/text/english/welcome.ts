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
  waitAdd: 'Append to the address of this page:',
  ended:
    'Your session ended: it expired, or your user or role was changed. Sign in to return to this page.',
  other:
    'Another user signed in in another tab of this browser. No further changes were made here.',
  register: 'Create account',
  haveAccount: 'I have an account',
  made: 'Account created. Sign in to continue.',
  forgot: 'Forgot password?',
  forgotTitle: 'Reset password',
  forgotNote:
    'We send a reset link to your email address. It works once and expires in 30 minutes.',
  forgotSubmit: 'Send reset link',
  sent: 'If an account has this email address, a reset link is on its way.',
  back: 'Back to sign-in',
  another: 'Request another link',
  resetTitle: 'Set a new password',
  resetNote: 'This signs you out everywhere and revokes your API tokens.',
  resetSubmit: 'Set password',
  reset: 'Password changed. Sign in with it.',
});
