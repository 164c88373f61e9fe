import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('marketplace', {
  no_rights: [
    'conflict',
    '{id} asks for rights ("{asks}"), and what grants rights is not there; bring the plugin packs up',
  ],
  refused_rights: ['invalid_argument', '{id} cannot be installed, since it {refused}'],
  scan_blocks: [
    'forbidden',
    'the scan blocks {id}: {file}{detail} {message}; the setting marketplace.allow_blocked lets such packs in',
  ],
  for_administrators: [
    'forbidden',
    '{id} asks for rights, or the scan did not let it pass: an administrator has to install it',
  ],
  link_moved: ['conflict', '{detail}; link the folder itself again'],
  not_installed: ['not_found', 'no pack "{packId}" is installed; look with "svc market list"'],
  link_renamed: ['conflict', 'it is the pack {id} now, and was {onlyOf}'],
  no_version_before: ['conflict', '{packId} has no version before this one to go back to'],
  kept_changed: [
    'conflict',
    'the stored version {version} of {packId} was changed on the disk; install it again',
  ],
  id_away: [
    'conflict',
    'the data folder of svc has data of "{id}", which no pack has left here: choose another id, or move plugins/{id} of the data folder away',
  ],
  other_content: [
    'conflict',
    'what lies at the source is {id} {version} with the content_hash {content_hash}, and not what the file names',
  ],
  network_unlimited: [
    'conflict',
    '{packId} opens connections by itself ("network" of its permissions), so that no ceiling of hosts holds it',
  ],
  not_of_pack: ['invalid_argument', '{packId} brings no {strange}'],
  still_installed: ['conflict', '{packId} is installed; uninstall it first'],
  nothing_left: ['not_found', 'nothing is left of a pack "{packId}"'],
  no_source: [
    'conflict',
    'it was uploaded, so there is no place to bring it from: send the archive (sha256 {sha256}) with "svc market upload" first',
  ],
  no_update: ['conflict', 'an archive of its own has no newer version; install the other archive'],
  no_version: ['not_found', '{registry} offers no version {version} of {name}; it has {known}'],
  not_signed: [
    'invalid_argument',
    '{name} is not signed by the key of the registry {registry}, so it is not installed',
  ],
  other_bytes: [
    'invalid_argument',
    'what lies at the address has the sha256 {actual}, and not the one that was promised; it is not installed',
  ],
  download: ['upstream_error', '{host} answered {status} instead of the archive'],
  not_up: ['conflict', '{packId} does not come up{detail}: {cause}'],
});
