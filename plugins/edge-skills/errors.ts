import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-skills', {
  log_not_written: [
    'unavailable',
    "Failed to write to this machine's skill log, so nothing was run; free some space on its disk.",
  ],
  skills_not_allowed: [
    'forbidden',
    'This machine\'s policy does not allow skills; the machine\'s owner can set "skills.enabled" in policy.yaml.',
  ],
  no_skill: ['not_found', 'This machine has no skill {key}.'],
  other_method: ['invalid_argument', '{key} is {class}; it needs {detail}'],
  too_many_skills: [
    'unavailable',
    '{maxAtOnce} skills are already running on this machine; try again.',
  ],
  cancelled: ['unavailable', '{key} was cancelled by its caller.'],
  timed_out: ['unavailable', 'The skill timed out.'],
  params: ['invalid_argument', '{what} are invalid: {instancePath} {cause}'],
  broken: ['internal', '{cause}'],
});
