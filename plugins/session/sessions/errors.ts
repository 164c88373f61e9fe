import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('session', {
  no_refresh_token: [
    'unauthorized',
    "The request has no refresh token, neither in its body nor in a page's cookie; sign in again.",
  ],
  foreign_page: [
    'forbidden',
    'Only pages served by this svc may use its refresh cookie; send refresh_token in the body instead.',
  ],
  used_too_often: [
    'rate_limited',
    'This refresh token was used too often in a row; use the newest one.',
  ],
  no_session: ['not_found', 'There is no session {id}.'],
  not_a_login: [
    'conflict',
    'Only a session that began with a sign-in can be ended; to end access by an API token, delete the token.',
  ],
  refused: ['unauthorized', 'The refresh token is not valid or has expired; sign in again.'],
});
