import { defineErrors } from '../../../core/sdk/index.ts';

export const errors = defineErrors('dev', {
  no_pack_archive: [
    'invalid_argument',
    'this is no archive of "svc pack build"; build the folder of the pack first',
  ],
  path_too_long: [
    'invalid_argument',
    '{name} is longer than 99 bytes: give the file a shorter path',
  ],
  key_type: [
    'invalid_argument',
    '{file} holds a key of {type}: svc signs with ed25519; name a file that is not there to have one made',
  ],
  licences: ['conflict', '{problems}'],
  not_a_build: ['conflict', '{out} is not a built plugin: name an empty or new folder with --out'],
});
