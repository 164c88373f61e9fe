import { words } from '../words.ts';

export const welcome = words('welcome', {
  signIn: 'Sign in',
  email: 'E-mail',
  password: 'Password',
  name: 'Your name',
  setupTitle: 'Make the first administrator',
  setupNote:
    'This link works once. Whoever uses it can do everything here; more accounts come later.',
  setupSubmit: 'Make the account and begin',
  passwordHint: 'At least 10 characters.',
  waitTitle: 'This svc has no administrator yet',
  waitNote:
    'Open the link that svc printed when it started; it carries a token that works once. It also stands in the data folder:',
  waitFile: 'plugins/session/setup-token',
  waitAdd: 'Behind the address of this page, add',
  ended:
    'You were signed out. The session has expired, or your account or its role was changed. After signing in you are back where you were.',
  other:
    'Another account has signed in, in another tab of this browser. Nothing more was done here.',
  register: 'Make an account',
  haveAccount: 'I have an account',
  made: 'The account is made. Sign in with it.',
  forgot: 'I forgot my password',
  forgotTitle: 'Forgotten password',
  forgotNote:
    'A link that sets another password is sent to the e-mail address of your account. It works once, for half an hour.',
  forgotSubmit: 'Send the link',
  sent: 'If there is an account with this e-mail address, a link is on its way to it.',
  back: 'Back to signing in',
  another: 'Ask for another link',
  resetTitle: 'Set another password',
  resetNote: 'All your sessions and API tokens end with it.',
  resetSubmit: 'Set the password',
  reset: 'The password is set. Sign in with it.',
});
