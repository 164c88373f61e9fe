import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('im-feishu', {
  invalid_app: ['invalid_argument', 'app_id {message}'],
  no_connection: ['upstream_error', 'Failed to open a connection to Feishu: {detail}'],
});
