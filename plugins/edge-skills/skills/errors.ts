import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-skills', {
  record_name: ['invalid_argument', '{name} is no valid name for a {type} record'],
  url_form: [
    'invalid_argument',
    'url is an address that starts with http:// or https://, without a user or a password in it',
  ],
  journal_not_allowed: [
    'forbidden',
    'the policy of this machine does not allow its journal: its owner can add /var/log/journal/** to "skills.paths" of policy.yaml',
  ],
  no_journalctl: ['upstream_error', 'this machine has no journalctl'],
  journalctl_failed: ['upstream_error', 'journalctl {detail}'],
  time_form: ['invalid_argument', '{text} is no time in RFC 3339'],
  no_ping: ['upstream_error', 'this machine has no ping'],
  ping_failed: ['upstream_error', 'ping {why}'],
  restart_not_allowed: [
    'forbidden',
    'the policy of this machine does not allow a restart of {unit}: its owner can add it to "skills.services" of policy.yaml',
  ],
  no_systemctl: ['upstream_error', 'this machine has no systemctl'],
  restart_failed: ['upstream_error', 'the restart of {unit} {why}'],
});
