import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('persona', {
  none: [
    'not_found',
    'there is no persona "{name}" and no other; put a markdown file of one into agents/, or set agents.default_persona',
  ],
  already_made: [
    'conflict',
    'there is a persona "{name}" of a user already; change that one, or choose another name',
  ],
  keeps_name: [
    'invalid_argument',
    'a persona keeps its name; make another one and delete "{name}"',
  ],
  body: ['invalid_argument', 'body must be a text: the system prompt'],
  no_own_persona: [
    'not_found',
    'no user has made a persona "{name}"; GET /api/v1/agents lists them, with their source',
  ],
  no_persona: ['not_found', 'there is no persona "{name}"; GET /api/v1/agents lists them'],
  name_taken: [
    'forbidden',
    'the persona "{name}" {of} and serves everyone: to make, change or delete one in its place takes {replaces}; choose another name, or ask an administrator',
  ],
  of_plugin: [
    'conflict',
    'the persona "{name}" comes with a plugin and cannot be deleted; make one of your own with its name, which serves in its place',
  ],
  of_file: [
    'conflict',
    'the persona "{name}" stands in a file: delete that file, which GET /api/v1/drop-ins names; or make one of your own with its name',
  ],
});
