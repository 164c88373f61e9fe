import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert', {
  may_not_create: ['forbidden', 'Creating rules requires the permission alert:write.'],
  no_store_to_check: [
    'unavailable',
    'The {store} store is not running, so the expression cannot be checked; try again later.',
  ],
  rule_key_taken: ['conflict', 'rule_key {key} already exists.'],
  too_many_rules: [
    'conflict',
    'The limit of {max} rules has been reached; delete some that you no longer need.',
  ],
  no_rule: ['not_found', 'There is no alert rule {id}.'],
  rule_key: ['invalid_argument', 'rule_key {message}'],
  half_dampening: [
    'invalid_argument',
    'notify_window_seconds and notify_min_fires must both be zero or both > 0',
  ],
});
