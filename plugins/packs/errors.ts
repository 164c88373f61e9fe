import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('packs', {
  no_method: ['not_found', 'svc answers no {method} of a pack'],
  redirects: ['upstream_error', '{origin} redirects more than {maxRedirects} times'],
  fetch_address: ['invalid_argument', 'fetch takes addresses that begin with https:// or http://'],
  denied_host: ['forbidden', '{id} may not ask {host}: "hosts" of its permissions has {hosts}'],
  beyond_ceiling: ['forbidden', '{id} may not ask {host}: {cause}'],
  fetch_limited: [
    'rate_limited',
    '{id} may make {atOnce} requests at once and {perMinute} in a minute; try again later',
  ],
  fetch_body: ['invalid_argument', 'fetch cannot send {detail}'],
  no_setting: ['not_found', 'there is no setting "{key}" in "settings" of plugin.json'],
  not_running: ['unavailable', '{label} {text}'],
  busy: ['unavailable', '{label} works on {maxCalls} calls already; try again'],
  ended_during_call: ['unavailable', '{label} ended during the call: {cause}'],
  call_too_large: [
    'invalid_argument',
    'a call of {label} may carry {maxPayloadBytes} bytes, this one has {byteLength}',
    413,
  ],
  call_not_plain: ['invalid_argument', 'a call of {label} takes plain data only: {cause}'],
  no_question: ['not_found', 'svc answers no {method} of this pack'],
  pack_state: ['unavailable', '{label} is {state}{why}'],
  answered_bytes: ['internal', 'the pack answered with bytes where a value was asked for'],
  answer_too_large: [
    'invalid_argument',
    'the answer to {method} has {byteLength} bytes, {maxAnswerBytes} are allowed; ask for less',
  ],
  child_folder: [
    'invalid_argument',
    'a child cannot be given {folder} to read: name a folder by its absolute path, without * and commas',
  ],
  child_environment: [
    'invalid_argument',
    'a child cannot be given {name}: it would change how its process starts',
  ],
  no_child: ['unavailable', 'cannot start a child process: {cause}'],
  no_pack: ['not_found', 'no pack "{id}" in the data folder asks for rights'],
  not_acceptable: [
    'conflict',
    '{id} cannot be accepted, since it {refused}; change its plugin.json',
  ],
  other_rights: [
    'conflict',
    '{id} asks for other rights than those with this hash; look again with "svc pack rights {id}"',
  ],
  nothing_accepted: ['not_found', 'no rights of a pack "{id}" were accepted'],
  manifest_field: ['invalid_argument', 'plugin.json needs a {kind} under "{name}"'],
  no_folder: ['forbidden', 'a pack cannot be given the folder: it {cause}'],
  files_too_large: [
    'invalid_argument',
    'the files of {id} are larger than {maxBytes} MiB; remove what it does not need',
  ],
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
  tables_not_asked: [
    'not_found',
    'svc answers no {method} of this pack: for tables of its own it asks for {ask}',
  ],
  no_room_for_tables: [
    'invalid_argument',
    '{id} has {name} and no room for tables: ask for {ask} in plugin.json',
  ],
  fetch_form: [
    'invalid_argument',
    'fetch takes an address and {options}, with up to {maxHeaders} headers',
  ],
  too_late: ['internal', '{what}'],
});
