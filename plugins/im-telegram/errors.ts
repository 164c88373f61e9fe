import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('im-telegram', {
  no_updates: ['upstream_error', 'Failed to fetch updates from Telegram: {reason}'],
  invalid_app: ['invalid_argument', '{field} {message}'],
});
