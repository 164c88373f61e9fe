import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-upgrade', {
  package_address: ['invalid_argument', 'The upgrade package: {message}'],
  cut_short: ['unavailable', '{host} sent only {got} of {whole} bytes.'],
  package_replaced: [
    'conflict',
    '{host} now serves a different package under this name (sha256 {named}).',
  ],
  connection_lost: [
    'unavailable',
    'The connection was lost during the download of the package ({cause}).',
  ],
  part_too_short: [
    'unavailable',
    '{host} now offers fewer bytes than were already downloaded; downloading the package again.',
  ],
  web_page: ['invalid_argument', '{host} returned a web page instead of a program.'],
  other_part: [
    'unavailable',
    '{host} sent a different part from the one requested; downloading the package again.',
  ],
  redirect_loop: ['invalid_argument', '{host} is stuck in a redirect loop.'],
  download_failed: ['unavailable', '{host}: {cause}'],
  silent: ['unavailable', '{host} has sent no data for {seconds} s.'],
  pin_mismatch: ['forbidden', 'The key of {host} does not match the pinned key.'],
  disk_full: ['conflict', 'The disk has only {mib} MiB left, which is too little for the package.'],
  package_too_large: [
    'invalid_argument',
    'The package is larger than allowed, or larger than the upgrade request states.',
  ],
  order_form: ['invalid_argument', 'The upgrade request {detail} {field}.'],
  unsigned: [
    'forbidden',
    'This machine accepts only signed versions, and the upgrade request has no signature.',
  ],
  signature: [
    'forbidden',
    'The signature was not made with the release key that this machine trusts.',
  ],
  sha256_mismatch: [
    'invalid_argument',
    'The downloaded file has the SHA-256 {found}, which does not match the one in the upgrade request.',
  ],
  self_test_failed: ['conflict', 'The self-test of the new version {how}{detail}.'],
  self_test_mute: ['conflict', 'The self-test of the new version did not report its version.'],
  upgrade_running: ['conflict', 'Another upgrade of this machine is in progress.'],
  shell_open: [
    'conflict',
    'A shell is open on this machine; wait until it is closed, or request the upgrade with "force".',
  ],
  too_many_starts: ['conflict', 'The agent stopped {maxBegun} times during this upgrade.'],
  other_version: ['conflict', 'Version {version} was requested, but the program reports {stated}.'],
  not_forced: ['conflict', 'A shell is open on this machine, and the upgrade was not forced.'],
  not_enrolled: ['conflict', 'This machine is not enrolled.'],
  downgrade: [
    'conflict',
    '{to} is older than the running version, {from}; request it with "allow_downgrade".',
  ],
  obstacle: ['conflict', '{why}'],
});
