import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('packs', {
  not_running: ['unavailable', '{label} {text}'],
  busy: ['unavailable', '{label} has {maxCalls} calls in progress; try again.'],
  ended_during_call: ['unavailable', '{label} stopped during the call: {cause}'],
  call_too_large: [
    'invalid_argument',
    'A call to {label} may have at most {maxPayloadBytes} bytes, but this one has {byteLength}.',
    413,
  ],
  call_not_plain: ['invalid_argument', 'A call to {label} accepts only plain data: {cause}'],
  no_question: ['not_found', 'svc has no method {method} for this pack.'],
  pack_state: ['unavailable', '{label} is {state}{why}.'],
  answered_bytes: ['internal', 'The pack returned bytes instead of a value.'],
  answer_too_large: [
    'invalid_argument',
    'The response to {method} has {byteLength} bytes, but the limit is {maxAnswerBytes}; request less data.',
  ],
  child_folder: [
    'invalid_argument',
    'A child process cannot be given read access to {folder}: use an absolute path without "*" or commas.',
  ],
  child_environment: [
    'invalid_argument',
    'A child process cannot be given the environment variable {name}: it would change how the process starts.',
  ],
  no_child: ['unavailable', 'Failed to start a child process: {cause}'],
  too_late: ['internal', '{what}'],
});
