import { defineErrors, type SvcError } from '../../sdk/index.ts';

export const errors = defineErrors('storage', {
  pg_url: [
    'invalid_argument',
    'SVC_DATABASE_URL {problem}: it should look like postgres://user:password@host:5432/database?sslrootcert=/path/of/ca.pem.',
  ],
  pg_unreachable: [
    'unavailable',
    'Postgres at {place} cannot be reached ({cause}): start it, or correct SVC_DATABASE_URL.',
  ],
  pg_password: [
    'unavailable',
    'Postgres at {place} refuses the user "{user}" ({cause}): correct the user and the password in SVC_DATABASE_URL.',
  ],
  pg_certificate: [
    'unavailable',
    'The certificate of Postgres at {place} cannot be verified ({cause}): set sslrootcert in SVC_DATABASE_URL to the file of its CA, and the host to a name in the certificate.',
  ],
  pg_no_tls: [
    'unavailable',
    'Postgres at {place} does not offer TLS: switch it on there, or, in a network that you trust, add sslmode=disable to SVC_DATABASE_URL.',
  ],
  pg_no_database: [
    'unavailable',
    'Postgres at {place} has no database "{database}": create it with "createdb {database}", or correct SVC_DATABASE_URL.',
  ],
  pg_old: [
    'unavailable',
    'Postgres at {place} is version {version}, which is too old: svc needs {oldest} or newer.',
  ],
  pg_encoding: [
    'unavailable',
    'The database "{database}" at {place} is encoded as {encoding}: create one with "createdb --encoding UTF8 --template template0 {database}".',
  ],
  pg_moved: [
    'conflict',
    'The data of Postgres at {place} was moved to {to}: use that. If "svc storage move" did not end, run it again. To go back to what Postgres held then, rename its table core_moved to core_turn.',
  ],
  pg_standby: [
    'unavailable',
    'Postgres at {place} is read-only, as a standby is: set SVC_DATABASE_URL to the primary.',
  ],
  pg_forbidden: [
    'unavailable',
    'Postgres does not let svc do this ({cause}): make its user the owner of the schema, or grant it what is missing.',
  ],
  pg_full: [
    'unavailable',
    'The disk of Postgres is full: nothing was written. Free some space there; writes then resume automatically.',
  ],
  pg_damaged: [
    'unavailable',
    'Postgres reports damaged data ({cause}): nothing was written. Look at its log, and restore a backup.',
  ],
  pg_busy: [
    'unavailable',
    'Postgres has no connection left for svc ({cause}): raise max_connections, or use fewer connections elsewhere.',
  ],
  pg_gone: ['unavailable', 'The connection to Postgres was lost ({cause}); try again.'],
  pg_turn: [
    'unavailable',
    'Another svc process has been writing to the same database for {seconds} s: nothing was written. Try again.',
  ],
  not_owner: [
    'unavailable',
    'This process may not write any more ({cause}): nothing was written. Send the request to the node that owns the data now.',
  ],
  pg_late: [
    'unavailable',
    'Postgres needed more than {seconds} s for one statement and was told to stop.',
  ],
  pg_readers: [
    'unavailable',
    '{waiting} queries are already waiting for Postgres; try again in a moment.',
  ],
  pg_view_ended: [
    'unavailable',
    'This read transaction has ended; a read transaction lasts at most {seconds} s.',
  ],
  pg_views_taken: [
    'unavailable',
    '{views} read transactions are already open; try again in a moment.',
  ],
  pg_reads_only: [
    'unavailable',
    'Rows cannot be written by a read: give the statement to write().',
  ],
  pg_too_long: ['invalid_argument', 'A value is too long for Postgres to find it again ({cause}).'],
  pg_number: [
    'internal',
    'Postgres returned the number {value}, which is too large to be exact here.',
  ],
  untranslated: ['internal', 'This statement cannot be put to Postgres: {problem}.'],
});

export const refused = (problem: string): SvcError => errors.untranslated({ problem });
