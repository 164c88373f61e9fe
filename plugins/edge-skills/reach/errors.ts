import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-skills', {
  file_system_silent: ['unavailable', 'The file system that contains {asked} is not responding.'],
  file_changed: ['unavailable', '{asked} changed while it was being read; try again.'],
  not_regular: ['invalid_argument', '{asked} is a {kindOf}; only regular files can be read.'],
  hard_links: [
    'forbidden',
    '{asked} has {links} hard links, one of which may lie outside what the policy allows, so it was not read.',
  ],
  path_form: ['invalid_argument', 'A path must start with / and must not contain "..".'],
  path_not_allowed: [
    'forbidden',
    'This machine\'s policy does not allow {asked}; the machine\'s owner can add it to "skills.{list}" in policy.yaml.',
  ],
  view_not_allowed: [
    'forbidden',
    'This machine\'s policy does not allow viewing {what}; the machine\'s owner can add "{view}" to "skills.views", or set "skills.profile" to observe, in policy.yaml.',
  ],
  no_program: ['upstream_error', 'This machine has no {name}, which {skill} needs.'],
  program_slow: ['upstream_error', '{name} did not respond within {seconds} seconds.'],
  program_failed: ['upstream_error', '{name} failed with code {code}: {said}'],
  no_file: ['not_found', '{asked} does not exist.'],
  no_permission: ['forbidden', 'The agent has no permission to read {asked}.'],
  unreadable: ['upstream_error', '{asked} cannot be read: {code}'],
  no_probes_allowed: [
    'forbidden',
    'This machine\'s policy does not allow any probes; its owner can add some to "skills.probes" in policy.yaml.',
  ],
  probe_not_allowed: [
    'forbidden',
    'This machine\'s policy does not allow {what}; the machine\'s owner can add it to "skills.probes" in policy.yaml.',
  ],
  no_browser_allowed: [
    'forbidden',
    'This machine\'s policy does not allow a browser; the machine\'s owner can set "skills.browser" in policy.yaml to the path of Chromium, such as /usr/bin/chromium-headless-shell.',
  ],
  no_such_browser: [
    'upstream_error',
    "A browser check cannot run on this machine: {file} is not there, or the agent's user may not run it.",
  ],
  browser_failed: ['upstream_error', 'A browser check cannot run on this machine: {cause}.'],
  command_not_allowed: [
    'forbidden',
    'This machine\'s policy does not list a command {name}; the machine\'s owner can add "{name}=/path/to/program arguments" to "skills.commands" in policy.yaml.',
  ],
  no_command_program: [
    'upstream_error',
    "The program {program} of the command {name} does not exist on this machine, or the agent's user may not run it.",
  ],
  too_many_commands: [
    'unavailable',
    '{maxAtOnce} commands are already running on this machine, so {name} was not run.',
  ],
  command_unsaid: ['upstream_error', 'The command {name} ended with {end}: {said}'],
  no_address: ['upstream_error', '{name} cannot be resolved: {code}'],
  no_folder: ['invalid_argument', '{path} is not a folder; use file_stat for files.'],
});
