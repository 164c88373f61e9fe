import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('marketplace', {
  no_pack: [
    'invalid_argument',
    'This is not a pack: there is no plugin.json, no .claude-plugin/plugin.json, and no SKILL.md, agents or commands; name its folder with "path" if it lies deeper.',
  ],
  nothing_used: ['invalid_argument', 'This plugin has nothing that svc uses: {parts}.'],
  other_pack: [
    'invalid_argument',
    'The registry offers this as {name} {version}, but it is {id} {formVersion}.',
  ],
});
