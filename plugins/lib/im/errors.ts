import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('im', {
  no_socket: ['upstream_error', '{host} answered {answer} and no WebSocket'],
  dial_failed: ['upstream_error', '{host} could not be called: {cause}'],
  dial_stopped: ['unavailable', 'the call to {host} was stopped'],
});
