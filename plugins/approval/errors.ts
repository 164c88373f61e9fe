import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('approval', {
  args_swapped: ['conflict', 'approval {id} was signed for other arguments; ask for a new one'],
  not_begun: ['conflict', 'approval {id} {state}; it cannot be begun'],
  not_executing: ['conflict', 'approval {id} is not executing; its end is not taken'],
  no_personas: [
    'unavailable',
    'the plugin persona is not available, so {persona} cannot be checked; approval {id} stays approved',
  ],
  signed_already: [
    'forbidden',
    'you have signed this already; the second signature is another person’s',
  ],
  may_not_cancel: [
    'forbidden',
    'an approval is cancelled by who asked for it, or by an administrator',
  ],
  expired: ['conflict', 'approval {id} has expired; ask for the change again'],
  args_differ: [
    'conflict',
    'args_sha256 is not that of this approval: look at what it runs again before you decide',
  ],
  no_approval: ['not_found', 'there is no approval {id}'],
  decided: ['conflict', 'approval {id} is {status} already{because}'],
  policy_changed: ['forbidden', '{objection}'],
  may_not_sign: ['forbidden', '{why}'],
});
