import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('im-telegram', {
  no_updates: ['upstream_error', 'Fetching updates from Telegram failed: {reason}'],
  invalid_app: ['invalid_argument', '{field} {message}'],
});
