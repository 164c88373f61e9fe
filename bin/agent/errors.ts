import { defineErrors } from '../../core/sdk/index.ts';

export const errors = defineErrors('agent', {
  not_on_an_edge: ['unavailable', '{who}: an edge {what}'],
  file_unreadable: ['invalid_argument', '{file} cannot be read: {cause}'],
  silent: ['unavailable', 'the agent that uses {dataDir} does not respond'],
  answer_too_long: ['unavailable', 'the response of the agent that uses {dataDir} is too long'],
  stopped_midway: ['unavailable', 'the agent that uses {dataDir} stopped while responding'],
  path_too_long: [
    'invalid_argument',
    'the path of the data folder {dataDir} is too long for a socket: use at most {longestPath} bytes',
  ],
  folder_unwritable: [
    'unavailable',
    'the data folder {dataDir} cannot be used: {cause}; svc edge needs write access to it',
  ],
  folder_in_use: [
    'conflict',
    'the data folder {dataDir} is in use by another svc edge: stop that one first, or choose another folder with --data',
  ],
});
