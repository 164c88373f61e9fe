import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert', {
  file_place: ['invalid_argument', '{where}: {cause}'],
  file_too_long: [
    'invalid_argument',
    'The file has {count} alerts, but the limit is {max}; split it.',
  ],
  rule_taken: ['conflict', 'The rule {key} {advice}'],
  file_rule: [
    'invalid_argument',
    '{group}: {rule}: {reason}{more}; with strict: false, the valid rules are imported.',
  ],
  yaml_too_large: ['invalid_argument', '{what} {cause}.', 413],
  not_yaml: ['invalid_argument', '{what} is not YAML: {cause}'],
  unreadable: ['invalid_argument', '{what} cannot be read: {cause}'],
  file_field: ['invalid_argument', '{path} {message}'],
});
