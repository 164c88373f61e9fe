import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-skills', {
  log_not_written: [
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
  broken: ['internal', '{cause}'],
});
