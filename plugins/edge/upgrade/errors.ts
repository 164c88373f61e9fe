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
    'The size of the agent package {file} is {count} bytes; it must be at least 1 byte and at most {largest}.',
  ],
  arch_unknown: [
    'conflict',
    'The architecture of edge {edgeId} is not known yet; specify it with "arch".',
  ],
  upgrade_offline: ['unavailable', 'Edge {edgeId} is offline; upgrade it when it is back online.'],
  upgrade_running: [
    'conflict',
    'An upgrade of edge {edgeId} is in progress ({job_id}, {state}); wait until it ends.',
  ],
  package_url: [
    'invalid_argument',
    '"url" must be an https URL, or a URL on this manager, without a user name or password.',
  ],
});
