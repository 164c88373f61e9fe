import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('programs', {
  not_running: ['unavailable', '{label} is {state}{detail}'],
  stopped_early: ['unavailable', '{label} was stopped before it had ended'],
  not_started: ['unavailable', '{label} could not be started: {cause}'],
  program_name: [
    'invalid_argument',
    '{id} names a program "{name}"; use lower-case letters, digits and dashes',
  ],
  being_replaced: ['unavailable', 'the plugin programs is being replaced; try again'],
  path_not_absolute: [
    'invalid_argument',
    '{id} runs "{file}", which is no absolute path; look it up with find() of programs.runner',
  ],
});
