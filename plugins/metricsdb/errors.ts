import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('metricsdb', {
  no_alert_rules: ['not_found', 'There are no alert rules: the plugin alert is not installed.'],
  rule_type: [
    'invalid_argument',
    'unsupported value "{type}" for parameter "type": use alert or record',
  ],
  tsdb_limit: [
    'invalid_argument',
    'invalid parameter "limit": it must be a number from 1 to {max}',
  ],
  not_signed_in: ['unauthorized', 'The request has no valid session or API token.'],
  all_devices_only: [
    'forbidden',
    'The service behind this proxy shows all devices, but your organization sees only some; ask an administrator.',
  ],
  odd_exemplars: [
    'upstream_error',
    'The metrics store does not respond like Prometheus: {what}; check metricsdb.url.',
  ],
  exemplars_large: [
    'invalid_argument',
    'The exemplars of these series take more than {maxBytes} bytes; select fewer series, or a shorter time.',
  ],
  step: ['invalid_argument', '"step" must be a duration such as 1m.'],
});
