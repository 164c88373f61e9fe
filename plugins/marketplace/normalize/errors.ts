import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('marketplace', {
  no_pack: [
    'invalid_argument',
    'This is not a pack: there is no plugin.json, no .claude-plugin/plugin.json, and no SKILL.md, agents or commands; if the pack is in a subfolder, set "path" to it.',
  ],
  nothing_used: ['invalid_argument', 'This plugin has nothing that svc can use: {parts}.'],
  other_pack: [
    'invalid_argument',
    'The registry lists this pack as {name} {version}, but it is {id} {formVersion}.',
  ],
});
