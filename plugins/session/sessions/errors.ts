import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('session', {
  no_refresh_token: [
    'unauthorized',
    'the request brings no refresh token, neither in its body nor in the cookie of a page; sign in again',
  ],
  foreign_page: [
    'forbidden',
    'only a page of this svc may use its refresh cookie; send refresh_token in the body instead',
  ],
  used_too_often: [
    'rate_limited',
    'this refresh token was used too often in a row; use the newest one',
  ],
  no_session: ['not_found', 'there is no session {id}'],
  not_a_login: [
    'conflict',
    'only a session that began with a login can be logged out; delete an API token instead',
  ],
  refused: ['unauthorized', 'the refresh token is not valid or has expired; sign in again'],
});
