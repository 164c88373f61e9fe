import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('chat', {
  run_open: [
    'conflict',
    'a run of this session is not over; cancel it, decide its approvals, or wait',
  ],
  too_many_runs: [
    'rate_limited',
    '{count} of your runs are not over; at most {openRunsOfOne} may be open',
  ],
  no_run: ['not_found', 'there is no run {id}'],
  no_parent: [
    'conflict',
    '{askKey} is for agents at work; a person asks {agent} by a message with "agent": "{agent}"',
  ],
  agent_not_asked: ['not_found', 'agent {name} cannot be asked: {why}'],
  agent_left: ['unavailable', 'the agent was interrupted; ask it again'],
  no_findings: ['upstream_error', 'agent {agent} has found nothing: {error}'],
  failed_inside: ['internal', 'the run failed inside svc; its log says why'],
  devices_changed: [
    'forbidden',
    'the devices that you see have changed since this was asked; ask again',
  ],
});
