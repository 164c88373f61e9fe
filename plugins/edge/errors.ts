import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge', {
  no_method: [
    'unavailable',
    'Edge {edgeId} does not offer {method}: upgrade its agent, or allow it in policy.yaml on its machine.',
  ],
  no_stream: [
    'unavailable',
    'Edge {edgeId} does not offer streams to {service}: upgrade its agent, or allow it in policy.yaml on its machine.',
  ],
  offline: ['unavailable', 'Edge {edgeId} ({name}) is offline.'],
  call_failed: ['upstream_error', 'Edge {edgeId} failed: {cause}'],
  process_answer: [
    'upstream_error',
    'Edge {edgeId} did not return a list of processes; upgrade its agent.',
  ],
  history_window: ['invalid_argument', 'The time "from" must not be later than "to".'],
  history_answer: [
    'upstream_error',
    'Edge {edgeId} did not return a history of processes; upgrade its agent.',
  ],
  snapshot_answer: [
    'upstream_error',
    'Edge {edgeId} did not return a host snapshot; upgrade its agent.',
  ],
  policy_answer: ['upstream_error', 'Edge {edgeId} did not return a policy; upgrade its agent.'],
  skill_list_answer: [
    'upstream_error',
    'Edge {edgeId} did not return a list of skills; upgrade its agent.',
  ],
  no_skill: ['not_found', 'Edge {edgeId} has no skill {key}.'],
  skill_answer: [
    'upstream_error',
    'Edge {edgeId} did not return a skill result; upgrade its agent.',
  ],
  two_approvals: [
    'forbidden',
    '{key} is dangerous: it needs approval from two people, which cannot be given here.',
  ],
  skill_not_allowed: [
    'forbidden',
    '{role} is not allowed to use {key}, which is {kind}; using it requires {wanted}.',
  ],
});
