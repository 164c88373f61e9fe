import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('marketplace', {
  no_rights: [
    'conflict',
    '{id} requests permissions ("{asks}"), but the packs plugin, which grants them, is not running; enable it.',
  ],
  refused_rights: ['invalid_argument', '{id} cannot be installed, because it {refused}.'],
  scan_blocks: [
    'forbidden',
    'The scan rejected {id}: {file}{detail} {message}; the setting marketplace.allow_blocked allows rejected packs.',
  ],
  for_administrators: [
    'forbidden',
    '{id} requests permissions, or the scan rejected it: an administrator must install it.',
  ],
  link_moved: ['conflict', '{detail}, so it is no longer followed; link the folder again.'],
  not_installed: ['not_found', 'No pack "{packId}" is installed; "svc market list" lists all.'],
  link_renamed: ['conflict', 'The folder now contains the pack {id} instead of {onlyOf}.'],
  no_version_before: ['conflict', '{packId} has no previous version to go back to.'],
  kept_changed: [
    'conflict',
    'The stored version {version} of {packId} was changed on disk; install it again.',
  ],
  id_away: [
    'conflict',
    'The data folder already has data for "{id}" that belongs to no pack: choose another id, or move plugins/{id} out of the data folder.',
  ],
  other_content: [
    'conflict',
    'The source has {id} {version} with the content_hash {content_hash}, which differs from the one in the file.',
  ],
  network_unlimited: [
    'conflict',
    '{packId} opens its own connections ("network" in its permissions), so a list of hosts cannot limit it.',
  ],
  not_of_pack: ['invalid_argument', '{packId} has no {strange}.'],
  still_installed: ['conflict', '{packId} is installed; uninstall it first.'],
  nothing_left: ['not_found', 'There is no leftover data from an uninstalled pack "{packId}".'],
  no_source: [
    'conflict',
    'The pack was uploaded, so it cannot be fetched: send the archive (sha256 {sha256}) with "svc market upload" first.',
  ],
  no_update: [
    'conflict',
    'A pack installed from a single archive cannot be upgraded from there; install an archive of the newer version.',
  ],
  no_version: ['not_found', '{registry} has no version {version} of {name}; it has {known}.'],
  not_signed: [
    'invalid_argument',
    '{name} is not signed with the key of the registry {registry}, so it was not installed.',
  ],
  other_bytes: [
    'invalid_argument',
    'The file at the address has the SHA-256 {actual}, which does not match the expected one, so it was not installed.',
  ],
  download: ['upstream_error', '{host} responded with status {status} instead of the archive.'],
  not_up: ['conflict', '{packId} failed to start{detail}: {cause}'],
});
