import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert', {
  no_store_to_check: [
    'unavailable',
    'the {store} store is not running, so the expression cannot be checked; try again when it is',
  ],
  rule_key_taken: ['conflict', 'there is a rule with the rule_key {key} already'],
  too_many_rules: [
    'conflict',
    'the limit of {max} rules is reached; delete some that are not needed',
  ],
  no_rule: ['not_found', 'there is no alert rule {id}'],
  rule_key: ['invalid_argument', 'rule_key {message}'],
  half_dampening: [
    'invalid_argument',
    'notify_window_seconds and notify_min_fires must both be zero or both > 0',
  ],
});
