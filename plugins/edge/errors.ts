import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge', {
  no_method: [
    'unavailable',
    'edge {edgeId} does not offer {method}: upgrade its agent, or allow it in policy.yaml of its machine',
  ],
  no_stream: [
    'unavailable',
    'edge {edgeId} does not offer streams to {service}: upgrade its agent, or allow it in policy.yaml of its machine',
  ],
  offline: ['unavailable', 'edge {edgeId} ({name}) is offline'],
  call_failed: ['upstream_error', 'edge {edgeId} could not do it: {cause}'],
  process_answer: [
    'upstream_error',
    'the answer of edge {edgeId} is no list of processes; upgrade its agent',
  ],
  snapshot_answer: [
    'upstream_error',
    'the answer of edge {edgeId} is no snapshot of a host; upgrade its agent',
  ],
  skill_list_answer: [
    'upstream_error',
    'the answer of edge {edgeId} is no list of skills; upgrade its agent',
  ],
  no_skill: ['not_found', 'edge {edgeId} has no skill {key}'],
  skill_answer: [
    'upstream_error',
    'the answer of edge {edgeId} is no answer of a skill; upgrade its agent',
  ],
  two_approvals: [
    'forbidden',
    '{key} is dangerous: it takes the approval of two people, which cannot be given here',
  ],
  skill_not_allowed: ['forbidden', '{role} may not use {key}, which is {kind}; it takes {wanted}'],
});
