import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('packs', {
  tables_not_opened: ['invalid_argument', 'The tables of {label} cannot be opened: {cause}'],
  tables_unavailable: ['unavailable', 'The tables of {label} {why}'],
  rows_too_large: [
    'invalid_argument',
    'A statement may return {maxAnswerBytes} MiB, and this one returns more: use limit, or fewer columns.',
  ],
  too_many_rows: [
    'invalid_argument',
    'A statement may return {maxRows} rows, and this one returns more: use limit.',
  ],
  statement_failed: ['invalid_argument', 'The statement failed: {cause}'],
  migration_changed: [
    'invalid_argument',
    'migrations/{name} was changed after it ran: restore it, and add another file.',
  ],
  statement_form: [
    'invalid_argument',
    'A statement is a text of at most {maxSql} KiB, with texts, numbers or null for its "?".',
  ],
  statement_verb: [
    'invalid_argument',
    'A statement must begin with select, with, values, insert, replace, update or delete; tables change by migrations/*.sql.',
  ],
  migration_transaction: [
    'invalid_argument',
    'migrations/{name} ends a transaction: each file is one already.',
  ],
  word_closed: [
    'invalid_argument',
    '{where} uses "{word}", which packs may not use; in a text, pass it as a value.',
  ],
  tables_process: ['unavailable', 'The process of its tables {text}'],
});
