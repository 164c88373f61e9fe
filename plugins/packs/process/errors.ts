import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('packs', {
  not_running: ['unavailable', '{label} {text}'],
  busy: ['unavailable', '{label} works on {maxCalls} calls already; try again'],
  ended_during_call: ['unavailable', '{label} ended during the call: {cause}'],
  call_too_large: [
    'invalid_argument',
    'a call of {label} may carry {maxPayloadBytes} bytes, this one has {byteLength}',
    413,
  ],
  call_not_plain: ['invalid_argument', 'a call of {label} takes plain data only: {cause}'],
  no_question: ['not_found', 'svc answers no {method} of this pack'],
  pack_state: ['unavailable', '{label} is {state}{why}'],
  answered_bytes: ['internal', 'the pack answered with bytes where a value was asked for'],
  answer_too_large: [
    'invalid_argument',
    'the answer to {method} has {byteLength} bytes, {maxAnswerBytes} are allowed; ask for less',
  ],
  child_folder: [
    'invalid_argument',
    'a child cannot be given {folder} to read: name a folder by its absolute path, without * and commas',
  ],
  child_environment: [
    'invalid_argument',
    'a child cannot be given {name}: it would change how its process starts',
  ],
  no_child: ['unavailable', 'cannot start a child process: {cause}'],
  too_late: ['internal', '{what}'],
});
