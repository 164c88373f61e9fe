import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('approval', {
  args_swapped: [
    'conflict',
    'Approval {id} was signed for different arguments; request a new one.',
  ],
  not_begun: ['conflict', 'Approval {id} {state}; it cannot be executed.'],
  not_executing: ['conflict', 'Approval {id} is not executing, so its result was ignored.'],
  no_personas: [
    'unavailable',
    'Personas are not available, so {persona} cannot be checked; approval {id} stays approved.',
  ],
  signed_already: [
    'forbidden',
    'You have already signed this change; the second signature must come from another person.',
  ],
  may_not_cancel: ['forbidden', 'Only the requester or an administrator can cancel an approval.'],
  expired: ['conflict', 'Approval {id} has expired; request the change again.'],
  args_differ: [
    'conflict',
    'args_sha256 does not match this approval: review what it would run once more before you decide.',
  ],
  no_approval: ['not_found', 'There is no approval {id}.'],
  decided: ['conflict', 'Approval {id} is already {status}{because}.'],
  policy_changed: ['forbidden', '{objection}'],
  may_not_sign: ['forbidden', '{why}'],
});
