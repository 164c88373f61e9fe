import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('chat', {
  run_open: [
    'conflict',
    'This session has an active run; cancel it, decide its approvals, or wait.',
  ],
  too_many_runs: [
    'rate_limited',
    'You have {count} active runs and have reached the limit ({openRunsOfOne}); wait for one to end.',
  ],
  too_many_waiting: [
    'rate_limited',
    '{waitingRunsOfOne} of your runs are waiting for a signature; decide their approvals or cancel some of them.',
  ],
  no_run: ['not_found', 'There is no run {id}.'],
  no_parent: [
    'conflict',
    '{askKey} is for agents only; to ask {agent}, send a message with "agent": "{agent}".',
  ],
  agent_not_asked: ['not_found', 'Agent {name} is not available: {why}'],
  agent_left: ['unavailable', 'The agent was interrupted; ask again.'],
  no_findings: ['upstream_error', 'Agent {agent} returned no findings: {error}'],
  failed_inside: [
    'internal',
    'The run failed because of an internal error; see the log for the cause.',
  ],
  devices_changed: [
    'forbidden',
    'The set of devices that you can see has changed since you asked; ask again.',
  ],
});
