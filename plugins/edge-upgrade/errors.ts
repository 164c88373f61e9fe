import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-upgrade', {
  package_address: ['invalid_argument', 'the package of the upgrade: {message}'],
  cut_short: ['unavailable', '{host} sent {got} of {whole} bytes'],
  package_replaced: [
    'conflict',
    '{host} has another package under this name by now, with the sha256 {named}',
  ],
  connection_lost: [
    'unavailable',
    'the connection broke off in the middle of the package ({cause})',
  ],
  part_too_short: [
    'unavailable',
    '{host} has less than was fetched already; fetching it again from the start',
  ],
  web_page: ['invalid_argument', '{host} answered with a web page and not with a program'],
  other_part: [
    'unavailable',
    '{host} answered with another part than requested; fetching it again from the start',
  ],
  redirect_loop: ['invalid_argument', '{host} redirects in circles'],
  download_failed: ['unavailable', '{host}: {cause}'],
  silent: ['unavailable', '{host} has sent nothing for {seconds} s'],
  pin_mismatch: ['forbidden', '{host} shows another key than the one that is pinned'],
  disk_full: ['conflict', 'the disk has {mib} MiB left, too few for the package'],
  package_too_large: [
    'invalid_argument',
    'the package is larger than it may be, or than the order says',
  ],
  order_form: ['invalid_argument', 'the order of an upgrade {detail} {field}'],
  unsigned: [
    'forbidden',
    'this machine takes signed versions only, and the order has no signature',
  ],
  signature: ['forbidden', 'the signature is not one of the release key of this machine'],
  sha256_mismatch: [
    'invalid_argument',
    'what was fetched has the sha256 {found}, not the one that was ordered',
  ],
  self_test_failed: ['conflict', 'the self-test of the new version {how}{detail}'],
  self_test_mute: ['conflict', 'the self-test of the new version did not say which version it is'],
  upgrade_running: ['conflict', 'another upgrade of this machine is under way'],
  shell_open: [
    'conflict',
    'a shell is open on this machine; wait for its end, or order the upgrade with force',
  ],
  too_many_starts: ['conflict', 'the agent ended {maxBegun} times while it worked on this upgrade'],
  other_version: [
    'conflict',
    'version {version} was ordered, and the program says that it is {stated}',
  ],
  not_forced: ['conflict', 'a shell is open on this machine, and the upgrade was not forced'],
  not_enrolled: ['conflict', 'this machine is not enrolled'],
  downgrade: [
    'conflict',
    '{to} is older than {from}, which runs here; order it with allow_downgrade',
  ],
  obstacle: ['conflict', '{why}'],
});
