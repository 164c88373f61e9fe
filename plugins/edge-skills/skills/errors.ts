import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-skills', {
  checks_not_allowed: [
    'forbidden',
    'This machine\'s policy does not allow checks; the machine\'s owner can set "skills.enabled" in policy.yaml.',
  ],
  record_name: ['invalid_argument', '{name} is not a valid name for a {type} record.'],
  url_form: [
    'invalid_argument',
    '"url" must start with http:// or https:// and must not contain a user name or a password.',
  ],
  journal_not_allowed: [
    'forbidden',
    'This machine\'s policy does not allow reading its journal; the machine\'s owner can add /var/log/journal/** to "skills.paths" in policy.yaml.',
  ],
  no_journalctl: ['upstream_error', 'The command journalctl is not installed on this machine.'],
  journalctl_failed: ['upstream_error', 'journalctl {detail}'],
  time_form: ['invalid_argument', '{text} is not a valid RFC 3339 time.'],
  no_package_manager: ['upstream_error', 'This machine has neither dpkg nor rpm.'],
  no_tracer: ['upstream_error', 'This machine has neither traceroute nor tracepath.'],
  no_engine: [
    'upstream_error',
    'No container engine is responding on this machine: {tried}. If there is one, its socket must be listed in "skills.containers" in policy.yaml, and the agent\'s user must be allowed to open it.',
  ],
  engine_refused: ['upstream_error', 'The container engine responded with {status}: {said}'],
  engine_answer: ['upstream_error', 'The response from the container engine is not JSON: {cause}'],
  engine_large: [
    'upstream_error',
    'The container engine responded with more than {maxBytes} bytes.',
  ],
  no_container: ['not_found', 'There is no container {container}.'],
  no_database: [
    'not_found',
    'This machine\'s policy does not list a database named {name}: {known}. The machine\'s owner can add name=postgres://user:password@host:port/database to "skills.databases" in policy.yaml.',
  ],
  no_view: ['invalid_argument', '{kind} has no view {view}; it has {views}.'],
  database_url: [
    'invalid_argument',
    'The address of {name} in "skills.databases" is not a valid URL.',
  ],
  database_answer: ['upstream_error', 'The response from {name} could not be parsed.'],
  no_kubeconfig: [
    'forbidden',
    'The agent has no cluster to read from; the machine\'s owner can set "skills.kubeconfig" in policy.yaml to a kubeconfig file with read-only access.',
  ],
  kubectl_answer: ['upstream_error', 'The output of kubectl could not be parsed: {cause}'],
  no_repository: ['invalid_argument', '{path} is not a Git repository.'],
  no_ping: ['upstream_error', 'The command ping is not installed on this machine.'],
  ping_failed: ['upstream_error', 'ping {why}'],
  restart_not_allowed: [
    'forbidden',
    'This machine\'s policy does not allow restarting {unit}; the machine\'s owner can add it to "skills.services" in policy.yaml.',
  ],
  no_systemctl: ['upstream_error', 'The command systemctl is not installed on this machine.'],
  restart_failed: ['upstream_error', 'The restart of {unit} {why}'],
  check_form: ['invalid_argument', 'The check cannot run here: {field} {message}.'],
});
