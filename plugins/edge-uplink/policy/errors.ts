import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-uplink', {
  policy_syntax: ['invalid_argument', 'line {line}: {cause}.'],
  policy_alias: ['invalid_argument', 'Aliases ("*name") cannot be used in this file.'],
  policy_mapping: ['invalid_argument', 'line {line}: {name} must be a mapping of keys to values.'],
  policy_key: [
    'invalid_argument',
    'line {line}: {name} has no key "{unknown}"; known keys: {known}.',
  ],
  policy_list: [
    'invalid_argument',
    'line {line}: {name} must be a list of {kind}, with at most {maxEntries} entries.',
  ],
  policy_item: ['invalid_argument', 'line {line}: {name} may list only {kind}, but lists {wrong}.'],
  policy_profile: ['invalid_argument', 'line {line}: skills.profile must be one of {profiles}.'],
  policy_path: ['invalid_argument', 'line {line}: {name} must be an absolute path.'],
  policy_flag: ['invalid_argument', 'line {line}: {name} must be true or false.'],
});
