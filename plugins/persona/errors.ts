import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('persona', {
  none: [
    'not_found',
    'There is no persona "{name}", and there are no other personas; add one as a markdown file in agents/, or set agents.default_persona.',
  ],
  already_made: [
    'conflict',
    'A user persona named "{name}" already exists; change that one, or choose another name.',
  ],
  keeps_name: [
    'invalid_argument',
    'A persona cannot be renamed; create another one and delete "{name}".',
  ],
  body: ['invalid_argument', '"body" must be a string: the system prompt.'],
  no_own_persona: [
    'not_found',
    'There is no user persona "{name}"; GET /api/v1/agents lists all personas with their source.',
  ],
  no_persona: ['not_found', 'There is no persona "{name}"; GET /api/v1/agents lists all personas.'],
  name_taken: [
    'forbidden',
    'The persona "{name}" {of} and is used by everyone: replacing it requires {replaces}; choose another name, or ask an administrator.',
  ],
  look_alike: [
    'conflict',
    'The name "{name}" could be mistaken for that of the persona "{other}"; choose another name.',
  ],
  of_plugin: [
    'conflict',
    'The persona "{name}" comes with a plugin and cannot be deleted; to replace it, create one with the same name.',
  ],
  of_file: [
    'conflict',
    'The persona "{name}" comes from a file: delete that file, which GET /api/v1/drop-ins lists, or create a persona with the same name to replace it.',
  ],
});
