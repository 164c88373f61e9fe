import { defineErrors } from '../../../core/sdk/index.ts';

export const errors = defineErrors('update', {
  digest_differs: [
    'conflict',
    'the digest of {name} does not match {name}.sha256: nothing was changed; download both again',
  ],
  no_file: ['not_found', '{path} does not exist: pass the path of the binary, or its https URL'],
  file_too_large: ['invalid_argument', '{from} is larger than {largest} bytes, so it is not svc'],
  address_answered: [
    'unavailable',
    '{url} responded with status {status}: nothing was changed; check the address',
  ],
  sender_silent: ['unavailable', '{url} has sent no data for {seconds} s: try again'],
  no_https: [
    'invalid_argument',
    '{url} does not use https: download the file yourself and pass its path',
  ],
  address_unreachable: ['unavailable', '{url} cannot be reached ({cause}): nothing was changed'],
  older_version: [
    'conflict',
    '{version} is older than the current version, {current}: add --downgrade, or use --back for the previous version',
  ],
  update_in_progress: [
    'conflict',
    'another update is in progress: wait until it ends, or delete {file} if none is running',
  ],
  program_failed_to_run: ['unavailable', '{program} cannot be run: {cause}'],
  command_failed: ['conflict', '"{list}" failed: {complaint}'],
  key_form: [
    'invalid_argument',
    'a release key is "ed25519:" followed by 44 base64 characters, as printed by the build that signs with it',
  ],
  key_differs: [
    'forbidden',
    'this installation accepts versions signed with {kept}: to accept another key, write it to {keptIn}',
  ],
  signature_missing: [
    'forbidden',
    '{name}.sig is missing: nothing was changed; get a signed version, or accept this one with --unsigned',
  ],
  signature_wrong: [
    'forbidden',
    '{name} is not signed with the release key of this installation ({key}): nothing was changed',
  ],
  new_problems: [
    'conflict',
    'svc {version} finds problems that {from} does not ({news}): nothing was changed; run "svc doctor" to see how to fix them',
  ],
  process_of_another: [
    'forbidden',
    'svc (process {pid}) is running as another user: run this command as the user who started it, or as root',
  ],
  replaced_midway: [
    'conflict',
    'svc {version} was replaced by {to} while it started: start it again, unless a service manager does that',
  ],
  no_backup: [
    'conflict',
    'there is no backup from before {to} in {folder}: restore one with "svc backup restore" and start svc again',
  ],
  restore_failed: [
    'conflict',
    'failed to restore the backup {dir}: {stderr}; run "svc backup restore" and start svc again',
  ],
  rolled_back: [
    'conflict',
    'svc {to} was rolled back, because {reason}; svc {from} is installed again: start it, unless a service manager does that',
  ],
});
