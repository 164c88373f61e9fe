import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('metricsdb', {
  no_alert_rules: ['not_found', 'there are no alert rules: the plugin alert is not installed'],
  rule_type: [
    'invalid_argument',
    'not supported value {type} for the parameter type: it is alert or record',
  ],
  not_signed_in: ['unauthorized', 'no valid session or API token came with this request'],
  all_devices_only: [
    'forbidden',
    'what stands behind this proxy shows all devices, and your organization sees some alone; ask an administrator',
  ],
  step: ['invalid_argument', 'step must be a duration such as 1m'],
});
