import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('session', {
  no_active_user: ['invalid_argument', 'there is no active user {owner} to act for'],
  too_many_tokens: [
    'conflict',
    'there are {max} API tokens already; delete one that is not used any more',
  ],
  no_api_token: ['not_found', 'there is no API token {id}'],
  user_id_missing: [
    'invalid_argument',
    'user_id is required: an operator has no account, so name the user the token acts for',
  ],
  acts_for_maker: ['forbidden', 'an API token acts for the one who makes it; leave user_id out'],
  expires_at: ['invalid_argument', 'expires_at {message}; an API token lives for a year at most'],
  beyond_you: ['invalid_argument', 'a token cannot do more than you: {message}'],
  no_action: [
    'invalid_argument',
    '{action} is no action that anything asks for; GET /api/v1/policy/actions lists them, {area} means a whole area, and read:* all that a person may look at',
  ],
  edge_disabled: ['forbidden', 'edge {edge} is disabled; enable it before it may send anything'],
});
