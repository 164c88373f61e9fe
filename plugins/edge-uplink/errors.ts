import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-uplink', {
  credentials_damaged: [
    'invalid_argument',
    '{file} is damaged ({cause}): enrol this machine again with "svc edge install".',
  ],
  config_form: ['invalid_argument', 'config_apply needs a hash and plugins.'],
  config_plugins: [
    'invalid_argument',
    'config_apply takes at most {maxPlugins} plugins, each with "enabled" and "spec".',
  ],
  config_managers: [
    'invalid_argument',
    'config_apply takes at most {most} managers, each with a "url" of http or https without a password and, if pinned, a "pin" of the form sha256/….',
  ],
  spec: ['invalid_argument', 'The spec of {name} is invalid: {instancePath} {cause}'],
  no_secret_key: ['invalid_argument', 'rotate_secret needs a secret_key.'],
  secret_not_proved: [
    'unavailable',
    'The new secret could not be verified, so the old one stays in use: {cause}',
  ],
  pin_mismatch: [
    'unavailable',
    'The key of {host} does not match the one that is pinned in edge.json.',
  ],
  parcel_form: [
    'invalid_argument',
    'A parcel needs a signal and a path on the manager, and may be at most {maxBodyBytes} MiB in size.',
  ],
  event_too_large: ['invalid_argument', 'An event may be at most {maxEventBytes} KiB in size.'],
  no_shells: [
    'forbidden',
    'The owner of this machine does not allow shells: "webshell" in policy.yaml is false.',
  ],
  tcp_not_allowed: [
    'forbidden',
    'This machine\'s policy does not allow {wanted}; the machine\'s owner can add it to "tcp" in policy.yaml.',
  ],
  tcp_target: ['invalid_argument', 'A tcp stream needs a host and a port.'],
  tcp_failed: ['unavailable', '{wanted}: {cause}'],
});
