import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('im-telegram', {
  no_updates: ['upstream_error', 'Telegram returned no updates: {reason}'],
  invalid_app: ['invalid_argument', '{field} {message}'],
});
