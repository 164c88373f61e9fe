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
});
