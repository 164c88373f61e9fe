import { defineErrors } from '../../../core/sdk/index.ts';

export const errors = defineErrors('dev', {
  no_pack_archive: [
    'invalid_argument',
    'this archive was not created by "svc pack build"; build the pack\'s folder first',
  ],
  path_too_long: [
    'invalid_argument',
    '{name} is longer than 99 bytes: give the file a shorter path',
  ],
  key_type: [
    'invalid_argument',
    '{file} contains a {type} key, but svc signs with ed25519; to create a key, pass a file that does not exist yet',
  ],
  licences: ['conflict', '{problems}'],
  not_a_build: ['conflict', '{out} is not a built plugin: pass an empty or new folder with --out'],
});
