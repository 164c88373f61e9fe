import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('programs', {
  not_running: ['unavailable', '{label} is {state}{detail}.'],
  stopped_early: ['unavailable', '{label} was stopped before it finished.'],
  not_started: ['unavailable', 'Failed to start {label}: {cause}'],
  program_name: [
    'invalid_argument',
    '{id} starts a program named "{name}"; use lower-case letters, digits and dashes.',
  ],
  being_replaced: ['unavailable', 'The programs plugin is being replaced; try again.'],
  path_not_absolute: [
    'invalid_argument',
    '{id} runs "{file}", which is not an absolute path; look it up with find() in programs.runner.',
  ],
});
