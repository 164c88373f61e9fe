import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('marketplace', {
  no_folder: [
    'invalid_argument',
    '{folder} is no folder on the machine of svc ({cause}); name one by its absolute path',
  ],
  no_ref: ['not_found', 'the repository has no branch or tag "{ref}"'],
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
    'the kept version {version} of {packId} was changed on the disk; install it anew',
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
  path_leads_out: [
    'invalid_argument',
    'the manifest names {path} under "{field}", which leads out of the pack',
  ],
  manifest_not_json: ['invalid_argument', '{path} is not JSON: {cause}'],
  manifest_no_object: ['invalid_argument', '{path} is no object'],
  manifest_refused: ['invalid_argument', 'plugin.json {message}'],
  name_taken: [
    'conflict',
    '{id} brings "{name}", a name that another persona or skill has; its author has to choose another',
  ],
  folder_for_administrators: [
    'forbidden',
    'only an administrator installs from a folder of the machine of svc',
  ],
  no_pack: [
    'invalid_argument',
    'this is no pack: there is no plugin.json, no .claude-plugin/plugin.json, and no SKILL.md, agents or commands; name its folder with "path" where it lies deeper',
  ],
  other_pack: [
    'invalid_argument',
    'the registry offers this as {name} {version}, and it is {id} {formVersion}',
  ],
  address_with_user: [
    'invalid_argument',
    'a user or a password in an address would be shown to all who look at it; name it without them',
  ],
  no_registry: ['not_found', 'there is no registry "{name}"; look with "svc market registries"'],
  registry_address: [
    'invalid_argument',
    'a registry is an https:// address, or the absolute path of a folder or file on the machine of svc, such as /srv/registry',
  ],
  registry_there: [
    'conflict',
    'there is a registry "{name}" already; choose another name, or remove that one first',
  ],
  registry_shipped: ['conflict', 'the registry "{name}" comes with svc and stays'],
  no_offer: [
    'not_found',
    'the registry {registry} offers no pack "{name}"; refresh it, or search for another name',
  ],
  registry_insecure: [
    'upstream_error',
    'registry redirects to an address without TLS, which can be altered on the way; add its https:// address',
  ],
  registry_answer: ['upstream_error', 'the registry answered {status}; check its address'],
  no_index: [
    'invalid_argument',
    'there is no index in {path}: a registry has {indexFiles}, of at most {maxBytes} MiB',
  ],
  registry_refused: ['invalid_argument', 'the registry {message}'],
  key_form: [
    'invalid_argument',
    'the key of a registry is "ed25519:" and 32 bytes in base64, as "svc pack sign" shows it',
  ],
  key_weak: [
    'invalid_argument',
    'the key of a registry is one of the few whose signatures fit any content; make a pair with "svc pack sign"',
  ],
});
