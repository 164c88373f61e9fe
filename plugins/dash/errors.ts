import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('dash', {
  unreachable: ['upstream_error', 'Grafana could not be given everything: {detail}'],
  unauthorized: [
    'upstream_error',
    '{host} does not accept dash.token any more (status 401); make another token there',
  ],
  not_configured: ['conflict', 'dash.url is not set: name the address of a Grafana'],
  not_ready: ['upstream_error', 'Grafana cannot be given anything: {detail}'],
  running: ['conflict', 'Grafana is being given its dashboards already; wait for that to end'],
  no_token: [
    'conflict',
    'dash.svc_token is not set: the data sources would be refused here; make a token with svc token create',
  ],
});
