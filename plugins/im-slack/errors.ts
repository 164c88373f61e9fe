import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('im-slack', {
  invalid_app: ['invalid_argument', '{field} {message}'],
  no_socket: ['upstream_error', 'Failed to open a socket to Slack: {reason}'],
});
