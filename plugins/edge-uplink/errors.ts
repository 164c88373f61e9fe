import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-uplink', {
  credentials_damaged: [
    'invalid_argument',
    '{file} is damaged ({cause}): enrol this machine again with "svc edge install"',
  ],
  config_form: ['invalid_argument', 'config_apply needs a hash and plugins'],
  config_plugins: [
    'invalid_argument',
    'config_apply names at most {maxPlugins} plugins, each with "enabled" and "spec"',
  ],
  spec: ['invalid_argument', 'the spec of {name} does not fit: {instancePath} {cause}'],
  no_secret_key: ['invalid_argument', 'rotate_secret needs a secret_key'],
  secret_not_proved: [
    'unavailable',
    'the new secret could not be proved, so the old one stays: {cause}',
  ],
  policy_mapping: ['invalid_argument', '{name} must be a mapping'],
  policy_key: ['invalid_argument', '{name} has no "{unknown}": it may have {known}'],
  policy_list: [
    'invalid_argument',
    '{name} must be a list of at most {maxEntries} texts that match {source}',
  ],
  policy_flag: ['invalid_argument', '{name} must be true or false'],
  pin_mismatch: [
    'unavailable',
    '{host} shows another key than the one that is pinned in edge.json',
  ],
  parcel_form: [
    'invalid_argument',
    'a parcel has a signal, a path of the manager and at most {maxBodyBytes} MiB',
  ],
  event_too_large: ['invalid_argument', 'an event has at most {maxEventBytes} KiB'],
  no_shells: [
    'forbidden',
    'the owner of this machine allows no shells: "webshell" of policy.yaml is false',
  ],
  tcp_not_allowed: [
    'forbidden',
    'the policy of this machine does not allow {wanted}: its owner can add it to "tcp" of policy.yaml',
  ],
  tcp_target: ['invalid_argument', 'a tcp stream names a host and a port'],
  tcp_failed: ['unavailable', '{wanted}: {cause}'],
});
