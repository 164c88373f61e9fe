import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-skills', {
  file_system_silent: ['unavailable', 'the file system of {asked} does not answer'],
  file_changed: ['unavailable', '{asked} was changed while it was looked at; ask again'],
  not_regular: ['invalid_argument', '{asked} is a {kindOf}; only regular files are read'],
  hard_links: [
    'forbidden',
    '{asked} has {links} names, one of which may be outside of what the policy allows, so it is not read',
  ],
  path_form: ['invalid_argument', 'a path starts with / and has no .. in it'],
  path_not_allowed: [
    'forbidden',
    'the policy of this machine does not allow {asked}: its owner can add it to "skills.paths" of policy.yaml',
  ],
  no_file: ['not_found', 'there is no {asked}'],
  no_permission: ['forbidden', 'the agent has no right to read {asked}'],
  unreadable: ['upstream_error', '{asked} cannot be read: {code}'],
  no_probes_allowed: [
    'forbidden',
    'the policy of this machine allows no probes: its owner can add some to "skills.probes" of policy.yaml',
  ],
  probe_not_allowed: [
    'forbidden',
    'the policy of this machine does not allow {what}: its owner can add it to "skills.probes" of policy.yaml',
  ],
  no_address: ['upstream_error', '{name} has no address: {code}'],
  no_folder: ['invalid_argument', '{path} is no folder; file_stat describes files'],
  log_failed: [
    'unavailable',
    'writing the skill log of this machine failed, and nothing is done that is not logged; free its disk',
  ],
  skills_not_allowed: [
    'forbidden',
    'the policy of this machine does not allow skills: its owner can set "skills.enabled" of policy.yaml',
  ],
  no_skill: ['not_found', 'this machine has no skill {key}'],
  other_method: ['invalid_argument', '{key} is {class}; it is asked for with {detail}'],
  too_many_skills: [
    'unavailable',
    '{maxAtOnce} skills are at work on this machine already; try again',
  ],
  cancelled: ['unavailable', '{key} was cancelled by its caller'],
  timed_out: ['unavailable', 'the skill ran out of time'],
  params: ['invalid_argument', '{what} do not fit: {instancePath} {cause}'],
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
  failed: ['internal', '{cause}'],
});
