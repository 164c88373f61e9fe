import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('im', {
  no_socket: [
    'upstream_error',
    '{host} responded with status {answer} instead of opening a WebSocket.',
  ],
  dial_failed: ['upstream_error', 'The call to {host} failed: {cause}'],
  dial_stopped: ['unavailable', 'The call to {host} was cancelled.'],
});
