import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('packs', {
  tables_not_opened: ['invalid_argument', 'The tables of {label} cannot be opened: {cause}'],
  tables_unavailable: ['unavailable', 'The tables of {label} {why}'],
  rows_too_large: [
    'invalid_argument',
    'A statement may return at most {maxAnswerBytes} MiB, but this one returns more: add a limit, or select fewer columns.',
  ],
  too_many_rows: [
    'invalid_argument',
    'A statement may return at most {maxRows} rows, but this one returns more: add a limit.',
  ],
  statement_failed: ['invalid_argument', 'The statement failed: {cause}'],
  migration_changed: [
    'invalid_argument',
    'migrations/{name} was changed after it ran: restore it, and put the change into a new file.',
  ],
  statement_form: [
    'invalid_argument',
    'A statement must be a string of at most {maxSql} KiB, with strings, numbers or null for each "?".',
  ],
  statement_verb: [
    'invalid_argument',
    'A statement must begin with select, with, values, insert, replace, update or delete; to change tables, use migrations/*.sql.',
  ],
  migration_transaction: [
    'invalid_argument',
    'migrations/{name} ends a transaction: each file already runs in its own.',
  ],
  word_closed: [
    'invalid_argument',
    '{where} uses "{word}", which packs are not allowed to use; if it is part of a string, pass the string as a value.',
  ],
  tables_process: ['unavailable', 'The process for its tables {text}'],
});
