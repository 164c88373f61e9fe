import { defineErrors } from '../../sdk/index.ts';

export const errors = defineErrors('host', {
  modified: [
    'conflict',
    'The files of {plugin} were modified after it was installed, so they are not served; install it again, or run "svc market link" with your working folder.',
  ],
  file_outside: ['invalid_argument', '{plugin}: "{file}" lies outside the plugin\'s folder.'],
  file_not_plain: [
    'invalid_argument',
    '{plugin}: {file} is a link or not a regular file; put the file itself in the folder.',
  ],
  file_too_large: ['invalid_argument', '{plugin}: {file} is larger than {mib} MiB.'],
  file_linked: ['invalid_argument', '{plugin}: {file} is a symbolic link; use regular files only.'],
  too_many_files: [
    'invalid_argument',
    '{plugin} has more than {max} files; bundle its code into one file with "svc plugin build".',
  ],
  manifest_shape: ['invalid_argument', '{where}: {problems}'],
  manifest_id: [
    'invalid_argument',
    '{where}: the id is "{id}" but the folder is "{folder}"; they must be the same and must not be "core".',
  ],
  manifest_range: [
    'invalid_argument',
    '{where}: the range "{range}" for {service} is not a semver range such as "^1.0.0".',
  ],
  no_manifest: ['not_found', '{where} is missing.'],
  manifest_too_large: ['invalid_argument', '{where} is larger than {kib} KiB.'],
  manifest_no_json: ['invalid_argument', '{where} is not JSON: {cause}'],
  manifest_engine: [
    'invalid_argument',
    '{where}: engines.host "{range}" is not a semver range such as "^1.0.0".',
  ],
  host_unfit: [
    'invalid_argument',
    '{where}: engines.host requires {range}, but this host provides {version}; install a version of "{plugin}" that supports it.',
  ],
  pack_kind: [
    'invalid_argument',
    '{where}: code in the data folder runs in its own process; set "kind" to "pack".',
  ],
  pack_trusted: [
    'invalid_argument',
    '{where}: only areas that ship with svc can use restricted modules; remove "trusted".',
  ],
  pack_critical: [
    'invalid_argument',
    '{where}: only plugins that ship with svc can be critical, early or sealed; remove "critical", "early" and "sealed".',
  ],
  area_routes: [
    'invalid_argument',
    '{where}: routes, events and skills are for packs with code; an area declares them in activate().',
  ],
  pack_services: [
    'invalid_argument',
    '{where}: a pack runs in its own process, without access to services; remove "requires" and "provides".',
  ],
  file_unlisted: [
    'invalid_argument',
    '{plugin}: {file} is not listed in integrity; rebuild the plugin or remove the file.',
  ],
  file_missing: [
    'invalid_argument',
    '{plugin}: {file} is listed in integrity but missing; install the plugin again.',
  ],
  file_changed: [
    'invalid_argument',
    '{plugin}: {file} was changed after the plugin was built; install it again.',
  ],
});
