import { defineErrors } from '../../sdk/index.ts';

export const errors = defineErrors('boot', {
  variable_file_unreadable: [
    'invalid_argument',
    'Environment: {name} points to {path}, which cannot be read: {cause}',
  ],
  config_unreadable: ['invalid_argument', '{file} cannot be read: {cause}'],
  config_category: [
    'invalid_argument',
    '{file}: "{category}" must be a mapping of keys, such as "{category}:" with indented lines below it.',
  ],
  config_no_yaml: ['invalid_argument', '{file} is not valid YAML: {cause}'],
  config_no_mapping: ['invalid_argument', '{file} must be a mapping of categories.'],
  setting_declared_twice: ['conflict', 'Setting {key} is declared by both {holder} and {owner}.'],
  no_setting: ['not_found', 'Setting "{key}" does not exist{hint}'],
  setting_at_start: [
    'conflict',
    '{key} is read only at startup: set it in {places} and restart svc.',
  ],
  variable_unknown: ['invalid_argument', 'Environment: {name} is not an svc setting{hint}'],
  config_key_unknown: ['invalid_argument', '{file}: {key} is not an svc setting{hint}'],
  setting_apart_undeclared: [
    'invalid_argument',
    'Setting {key} is declared as having to differ from {other}: declare both in the same plugin, and both with at_start.',
  ],
  setting_repeats: [
    'invalid_argument',
    '{name} must not be the same as {other} ({key}: {description})',
  ],
  setting_value: ['invalid_argument', '{where}{inside} {problem} ({key}: {description})'],
});
