import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('packs', {
  no_pack: ['not_found', 'No pack "{id}" that requests permissions is in the data folder.'],
  not_acceptable: [
    'conflict',
    '{id} cannot be accepted, because it {refused}; change its plugin.json.',
  ],
  other_rights: [
    'conflict',
    'The requested permissions of {id} do not match this hash; check them again with "svc pack rights {id}".',
  ],
  nothing_accepted: ['not_found', 'No permissions have been accepted for pack "{id}".'],
  manifest_field: ['invalid_argument', 'plugin.json needs a {kind} under "{name}".'],
  no_folder: ['forbidden', 'A pack cannot be given access to the folder: it {cause}.'],
});
