import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('packs', {
  no_setting: ['not_found', 'There is no setting "{key}" in "settings" of plugin.json.'],
});
