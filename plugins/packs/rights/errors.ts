import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('packs', {
  no_pack: ['not_found', 'no pack "{id}" in the data folder asks for rights'],
  not_acceptable: [
    'conflict',
    '{id} cannot be accepted, since it {refused}; change its plugin.json',
  ],
  other_rights: [
    'conflict',
    '{id} asks for other rights than those with this hash; look again with "svc pack rights {id}"',
  ],
  nothing_accepted: ['not_found', 'no rights of a pack "{id}" were accepted'],
  manifest_field: ['invalid_argument', 'plugin.json needs a {kind} under "{name}"'],
  no_folder: ['forbidden', 'a pack cannot be given the folder: it {cause}'],
});
