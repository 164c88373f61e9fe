import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('marketplace', {
  no_pack: [
    'invalid_argument',
    'this is no pack: there is no plugin.json, no .claude-plugin/plugin.json, and no SKILL.md, agents or commands; name its folder with "path" where it lies deeper',
  ],
  other_pack: [
    'invalid_argument',
    'the registry offers this as {name} {version}, and it is {id} {formVersion}',
  ],
});
