import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('persona', {
  none: [
    'not_found',
    'There is no persona "{name}" and no other; add one as a markdown file in agents/, or set agents.default_persona.',
  ],
  already_made: [
    'conflict',
    'A user persona "{name}" already exists; change that one, or choose another name.',
  ],
  keeps_name: [
    'invalid_argument',
    'A persona cannot be renamed; create another one and delete "{name}".',
  ],
  body: ['invalid_argument', '"body" must be a text: the system prompt.'],
  no_own_persona: [
    'not_found',
    'There is no user persona "{name}"; GET /api/v1/agents lists all with their source.',
  ],
  no_persona: ['not_found', 'There is no persona "{name}"; GET /api/v1/agents lists all.'],
  name_taken: [
    'forbidden',
    'The persona "{name}" {of} and is used by everyone: replacing it needs {replaces}; choose another name, or ask an administrator.',
  ],
  of_plugin: [
    'conflict',
    'The persona "{name}" comes with a plugin and cannot be deleted; create one with its name to replace it.',
  ],
  of_file: [
    'conflict',
    'The persona "{name}" comes from a file: delete that file, which GET /api/v1/drop-ins names, or create one with its name to replace it.',
  ],
});
