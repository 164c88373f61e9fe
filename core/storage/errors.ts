import { defineErrors, type ErrorCatalogue } from '../sdk/index.ts';
import { errors as diskErrors } from './disk/errors.ts';
import { errors as engineErrors } from './engine/errors.ts';
import { errors as postgresErrors } from './postgres/errors.ts';
import { errors as sqliteErrors } from './sqlite/errors.ts';

export const errors = defineErrors('storage', {
  closing: ['unavailable', 'Storage is closing and no longer accepts writes.'],
  queue_full: ['unavailable', '{waiting} writes are already waiting; try again in a moment.'],
  wait_too_long: [
    'unavailable',
    'This write was dropped after waiting {seconds} s for its turn, because too many writes are queued; try again.',
  ],
  key_gone: [
    'unavailable',
    'The key that seals the secrets in {folder} is missing: {remedy}, or set SVC_SECRET_KEY.',
  ],
  key_file_open: [
    'unavailable',
    '{file} holds the key to every secret, but other users can read it (mode {mode}): run "chmod 600 {file}" and start svc again.',
  ],
  key_file_empty: ['unavailable', '{file} is empty: {remedy}.'],
  key_form: [
    'invalid_argument',
    '{origin} does not contain a 32-byte key in base64 or hex; generate one with "openssl rand -base64 32".',
  ],
  key_file_damaged: ['unavailable', 'Line {line} of {file} is not a 32-byte key: {remedy}.'],
  key_from_environment: [
    'conflict',
    'The key comes from SVC_SECRET_KEY, so a new key must be set there, too: append it to the old one, separated by a comma, and start svc again.',
  ],
  key_file_unwritable: [
    'unavailable',
    'The key file cannot be written ({cause}); the old key stays in use.',
  ],
  migrations_unreadable: ['invalid_argument', 'The migrations in {folder} cannot be read: {cause}'],
  migration_number: [
    'invalid_argument',
    '{where} should be number {number}: migrations are named 001-what-it-does.sql and numbered without gaps.',
  ],
  migration_statement: ['invalid_argument', '{where}: "{statement}" {problem}.'],
  data_newer: [
    'conflict',
    'The data of {owner} was written by version {version} (migration {migration}), which is newer than this version, {own}: start version {version} again, or {remedy}.',
  ],
  migration_changed: [
    'conflict',
    'Migration {migration} of {owner} differs from {applied}, which version {version} applied: restore that file and write the change as migration {next}, or {remedy}.',
  ],
  prefix_taken: [
    'conflict',
    'Plugin {owner} cannot use tables named {prefix}*: {table} belongs to another plugin. Give the plugin a different id.',
  ],
  migration_foreign: [
    'invalid_argument',
    "Migration {migration} of {owner} refers to {table}, which belongs to another plugin: use that plugin's service instead.",
  ],
  migration_failed: [
    'unavailable',
    'Migration {migration} of {owner} failed and was rolled back: {cause}',
  ],
  moved: [
    'conflict',
    'The data of {file} was moved to {to}: set SVC_DATABASE_URL to that. If "svc storage move" did not end, run it again. To go back to what the file held then, delete {mark}.',
  ],
  table_name: ['invalid_argument', 'The name {name} must begin with {prefix}.'],
  table_not_strict: [
    'invalid_argument',
    'Table {table} must be declared STRICT, so that each column holds only values of its type.',
  ],
  foreign_table: ['internal', 'Plugin {owner} may use only its own tables, {prefix}*: {cause}.'],
  seal_unknown: ['internal', '{where} is not a sealed value of this version.'],
  seal_key_missing: [
    'unavailable',
    '{where} was sealed with key {key}, which is not in the key ring: {remedy}.',
  ],
  seal_undeclared: [
    'internal',
    '{plugin} stores sealed values in {table}.{column}, which its plugin.json does not list; add it to "sealed", so that they are re-encrypted when the master key changes.',
  ],
  sealed_declaration: [
    'invalid_argument',
    'The plugin.json of {plugin} lists, under "sealed", {problem}.',
  ],
  plugin_id: [
    'invalid_argument',
    '"{id}" cannot own tables: a plugin id consists of lower-case letters, digits and dashes, and is not "core" or "sqlite".',
  ],
  disk_full: ['unavailable', 'Writes are not accepted at the moment: {cause}'],
  unit_too_long: [
    'unavailable',
    'This write took longer than {seconds} s and was rolled back: do not use the network, files or timers inside a write.',
  ],
  unit_ended: [
    'unavailable',
    'This write transaction has ended; use it only inside the function it was passed to.',
  ],
  seal_broken: [
    'internal',
    '{where} cannot be decrypted: it was altered, or moved here from another row. Enter it again.',
  ],
});

/** Error catalogues of the storage. */
export const storageErrors: readonly ErrorCatalogue[] = [
  errors,
  engineErrors,
  diskErrors,
  sqliteErrors,
  postgresErrors,
];
