import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('session', {
  no_active_user: ['invalid_argument', 'There is no active user {owner} to act as.'],
  too_many_tokens: [
    'conflict',
    'The limit of {max} API tokens has been reached; delete some that you no longer need.',
  ],
  no_api_token: ['not_found', 'There is no API token {id}.'],
  user_id_missing: [
    'invalid_argument',
    'user_id is required: an operator has no account, so specify the user that the token acts as.',
  ],
  acts_for_maker: ['forbidden', 'An API token acts as the user who creates it; leave out user_id.'],
  expires_at: ['invalid_argument', 'expires_at {message}; an API token lasts at most a year.'],
  beyond_you: ['invalid_argument', 'A token cannot do more than you: {message}'],
  no_action: [
    'invalid_argument',
    '{action} is not an action; GET /api/v1/policy/actions lists all actions, {area} covers a whole area, and read:* covers read access to everything.',
  ],
  edge_disabled: ['forbidden', 'Edge {edge} is disabled; enable it before it sends data.'],
});
