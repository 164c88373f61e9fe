import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('packs', {
  no_pack: ['not_found', 'No pack "{id}" in the data folder asks for permissions.'],
  not_acceptable: [
    'conflict',
    '{id} cannot be accepted, because it {refused}; change its plugin.json.',
  ],
  other_rights: [
    'conflict',
    '{id} asks for other permissions than those with this hash; check again with "svc pack rights {id}".',
  ],
  nothing_accepted: ['not_found', 'No permissions of a pack "{id}" were accepted.'],
  manifest_field: ['invalid_argument', 'plugin.json needs a {kind} under "{name}".'],
  no_folder: ['forbidden', 'A pack cannot be given the folder: it {cause}.'],
});
