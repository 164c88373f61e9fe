import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('dash', {
  unreachable: ['upstream_error', 'Some objects could not be synced to Grafana: {detail}'],
  unauthorized: [
    'upstream_error',
    '{host} no longer accepts dash.token (status 401); create a new token there.',
  ],
  not_configured: ['conflict', "dash.url is not set: set it to Grafana's address."],
  not_ready: ['upstream_error', 'Failed to sync to Grafana: {detail}'],
  running: ['conflict', 'A sync to Grafana is in progress; wait until it ends.'],
  no_token: [
    'conflict',
    'dash.svc_token is not set, so Grafana could not query svc; create a token with "svc token create".',
  ],
});
