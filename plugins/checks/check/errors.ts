import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('checks', {
  no_badge: ['not_found', 'There is no public badge of a check {name}.'],
  unknown: ['not_found', 'There is no check {name}.'],
  taken: ['conflict', 'A check with the name {name} already exists.'],
  too_many: [
    'conflict',
    'The limit of {max} checks has been reached; delete one that you no longer need.',
  ],
  stood_on: [
    'conflict',
    'The check {name} cannot be deleted: {others} depend on it. Change their depends_on first.',
  ],
  not_valid: ['invalid_argument', '{field} {message}.'],
  no_proposal: [
    'not_found',
    'There is no proposal {id}: the agent no longer finds it, or a check watches it.',
  ],
  no_objective: ['not_found', 'There is no objective {name}.'],
  no_group: ['not_found', 'There is no group {group}: no check has it.'],
  objective_of: ['invalid_argument', 'An objective is about either a check or a group.'],
  objective_taken: ['conflict', 'An objective with the name {name} already exists.'],
  too_many_objectives: [
    'conflict',
    'The limit of {max} objectives has been reached; delete one that you no longer need.',
  ],
  sealed: [
    'unavailable',
    'The headers and bodies of the check {name} cannot be decrypted; enter them again.',
  ],
  no_address: ['unavailable', '{host} has no IPv{ip} address.'],
  no_picture: ['not_found', 'No picture of a failure of the check {name} is kept.'],
  no_browser: [
    'unavailable',
    'A browser check cannot run here, because Chromium is not installed; install chromium-headless-shell, or set checks.browser.',
  ],
  no_such_browser: [
    'unavailable',
    'A browser check cannot run here: checks.browser is {file}, which is not there or cannot be run.',
  ],
  no_agents: ['unavailable', 'Agents are not available at the moment.'],
  no_reading: [
    'unavailable',
    'The answer of the agent is not a result of a probe; update the agent to the version of svc.',
  ],
});
