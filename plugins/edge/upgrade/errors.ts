import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge', {
  no_sha256: [
    'conflict',
    '{file}.sha256 is missing, or does not begin with 64 hexadecimal digits; write one with sha256sum',
  ],
  sha256_mismatch: [
    'conflict',
    'the digest of {file} is not the one in {file}.sha256; copy both files again',
  ],
  no_package_for: [
    'not_found',
    'there is no agent package svc-{version}-{arch} in {folder}; there {detail}',
  ],
  no_package: ['not_found', 'there is no agent package "{file}"'],
  package_size: [
    'conflict',
    'the agent package {file} has {count} bytes; it must have some, and at most {largest}',
  ],
  arch_unknown: [
    'conflict',
    'the architecture of the machine of edge {edgeId} is not known yet; name it with arch',
  ],
  upgrade_offline: ['unavailable', 'edge {edgeId} is offline; it can be upgraded when it is back'],
  upgrade_running: [
    'conflict',
    'an upgrade of edge {edgeId} is under way ({job_id}, {state}); wait for its end',
  ],
  package_url: [
    'invalid_argument',
    'url is an https address, or one of this manager, without user and password',
  ],
});
