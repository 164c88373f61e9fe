import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-skills', {
  record_name: ['invalid_argument', '{name} is not a valid name for a {type} record.'],
  url_form: [
    'invalid_argument',
    '"url" must start with http:// or https:// and must not contain a user name or a password.',
  ],
  journal_not_allowed: [
    'forbidden',
    'The policy of this machine does not allow reading its journal: its owner can add /var/log/journal/** to "skills.paths" in policy.yaml.',
  ],
  no_journalctl: ['upstream_error', 'This machine has no journalctl.'],
  journalctl_failed: ['upstream_error', 'journalctl {detail}'],
  time_form: ['invalid_argument', '{text} is not a valid RFC 3339 time.'],
  no_ping: ['upstream_error', 'This machine has no ping.'],
  ping_failed: ['upstream_error', 'ping {why}'],
  restart_not_allowed: [
    'forbidden',
    'The policy of this machine does not allow restarting {unit}: its owner can add it to "skills.services" in policy.yaml.',
  ],
  no_systemctl: ['upstream_error', 'This machine has no systemctl.'],
  restart_failed: ['upstream_error', 'The restart of {unit} {why}'],
});
