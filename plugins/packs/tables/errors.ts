import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('packs', {
  tables_not_opened: ['invalid_argument', 'the tables of {label} cannot be opened: {cause}'],
  tables_unavailable: ['unavailable', 'the tables of {label} {why}'],
  rows_too_large: [
    'invalid_argument',
    'a statement may answer {maxAnswerBytes} MiB, this one has more: use limit, or fewer columns',
  ],
  too_many_rows: [
    'invalid_argument',
    'a statement may answer {maxRows} rows, this one has more: use limit',
  ],
  statement_failed: ['invalid_argument', 'the statement failed: {cause}'],
  migration_changed: [
    'invalid_argument',
    'migrations/{name} has run and was changed since: put it back, and add another file',
  ],
  statement_form: [
    'invalid_argument',
    'a statement is its text, of at most {maxSql} KiB, and texts, numbers or null for its "?"',
  ],
  statement_verb: [
    'invalid_argument',
    'a statement begins with select, with, values, insert, replace, update or delete; tables change by migrations/*.sql',
  ],
  migration_transaction: [
    'invalid_argument',
    'migrations/{name} ends a transaction: each file is one already',
  ],
  word_closed: [
    'invalid_argument',
    '{where} says "{word}", which is closed to packs; in a text, pass it as a value',
  ],
  tables_process: ['unavailable', 'the process of its tables {text}'],
});
