import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge', {
  no_sha256: [
    'conflict',
    '{file}.sha256 is missing, or does not begin with 64 hexadecimal digits; create it with sha256sum.',
  ],
  sha256_mismatch: [
    'conflict',
    'The digest of {file} does not match {file}.sha256; copy both files again.',
  ],
  no_package_for: [
    'not_found',
    'There is no agent package svc-{version}-{arch} in {folder}; there {detail}',
  ],
  no_package: ['not_found', 'There is no agent package "{file}".'],
  package_size: [
    'conflict',
    'The agent package {file} has {count} bytes; it must have at least one, and at most {largest}.',
  ],
  arch_unknown: [
    'conflict',
    'The architecture of edge {edgeId} is not known yet; name it with arch.',
  ],
  upgrade_offline: ['unavailable', 'Edge {edgeId} is offline; upgrade it when it is back.'],
  upgrade_running: [
    'conflict',
    'An upgrade of edge {edgeId} is in progress ({job_id}, {state}); wait until it ends.',
  ],
  package_url: [
    'invalid_argument',
    '"url" must be an https address, or one of this manager, without user name and password.',
  ],
});
