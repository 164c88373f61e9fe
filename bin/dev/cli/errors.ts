import { defineErrors } from '../../../core/sdk/index.ts';

export const errors = defineErrors('dev', {
  no_pack_compiler: [
    'invalid_argument',
    'the single binary has no compiler: run "svc pack build" in a source checkout of svc',
  ],
  version_taken: [
    'conflict',
    'the registry already has {id} {version} with different content: raise "version" in plugin.json, and build again',
  ],
  list_needs_key: [
    'invalid_argument',
    'the list in {file} is signed: pass the key with --key, so that it stays signed',
  ],
  days_form: ['invalid_argument', '--days must be a whole number from 1 to 3650'],
  no_index: ['invalid_argument', '{file} is not a pack index: choose another folder'],
  no_plugin_compiler: [
    'invalid_argument',
    'the single binary has no compiler: run "svc plugin build" in a source checkout of svc',
  ],
  folder_exists: ['conflict', '{folder} already exists: choose another id, or delete it first'],
  plugin_taken: ['conflict', 'the plugin {id} already has {detail}: choose another id'],
});
