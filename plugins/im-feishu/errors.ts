import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('im-feishu', {
  invalid_app: ['invalid_argument', 'app_id {message}'],
  no_connection: ['upstream_error', 'Opening a connection to Feishu failed: {detail}'],
});
