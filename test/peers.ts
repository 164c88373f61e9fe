import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'node:test';

/** Programs, and two libraries, that tests meet for real, and the Debian package that brings each; `.ci/run` installs all of them. */
export const peers = {
  asciinema: 'asciinema',
  check_disk: 'monitoring-plugins-basic',
  check_procs: 'monitoring-plugins-basic',
  'chromium-headless-shell': 'chromium-headless-shell',
  curl: 'curl',
  'dpkg-deb': 'dpkg',
  exim4: 'exim4-daemon-light',
  fcgiwrap: 'fcgiwrap',
  'g++': 'g++',
  git: 'git',
  ip: 'iproute2',
  journalctl: 'systemd',
  'libfaketimeMT.so.1': 'libfaketime',
  'lmnsd_ossl.so': 'rsyslog-openssl',
  logger: 'bsdutils',
  logrotate: 'logrotate',
  mariadbd: 'mariadb-server',
  mosquitto: 'mosquitto',
  nginx: 'nginx-light',
  pgbouncer: 'pgbouncer',
  ping: 'iputils-ping',
  prlimit: 'util-linux',
  prometheus: 'prometheus',
  'prometheus-alertmanager': 'prometheus-alertmanager',
  'prometheus-blackbox-exporter': 'prometheus-blackbox-exporter',
  'prometheus-node-exporter': 'prometheus-node-exporter',
  'prometheus-process-exporter': 'prometheus-process-exporter',
  promtool: 'prometheus',
  ps: 'procps',
  psql: 'postgresql',
  'redis-server': 'redis-server',
  rsyslogd: 'rsyslog',
  script: 'bsdutils',
  sshd: 'openssh-server',
  strace: 'strace',
  'systemd-analyze': 'systemd',
  tinyproxy: 'tinyproxy',
  unshare: 'util-linux',
  'victoria-metrics': 'victoria-metrics',
  wget: 'wget',
  wrk: 'wrk',
} as const satisfies Record<string, string>;

export type Peer = keyof typeof peers;

export const findPeer = (name: Peer): string | undefined => findProgram(name);

/**
 * Shell of Chromium: it shows pages as the whole browser does, for a third of the processor time. The
 * whole one where only that is installed.
 */
export const findBrowser = (): string | undefined =>
  findPeer('chromium-headless-shell') ?? findProgram('chromium');

function findProgram(name: string): string | undefined {
  // Daemons live beside the folders that a user's PATH names.
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...['/usr/sbin', '/sbin', '/usr/lib/nagios/plugins'],
  ];
  // No program: it is loaded before one.
  const libraries = name.includes('.so')
    ? readdirSync('/usr/lib').flatMap((machine) =>
        ['faketime', 'rsyslog'].map((folder) => join('/usr/lib', machine, folder, name)),
      )
    : [];
  return folders.map((folder) => join(folder, name)).find(runnable) ?? libraries.find(existsSync);
}

/**
 * The path of a real peer. Without it the test is skipped by a sentence that names the package, and the caller returns;
 * where `SVC_TEST_PEERS=required` says that all of them are installed, it fails instead.
 */
export function peer(t: Pick<TestContext, 'skip'>, name: Peer): string | undefined {
  const path = findPeer(name);
  if (path !== undefined) {
    return path;
  }
  const sentence = `${name} is not installed (Debian: apt-get install ${peers[name]})`;
  if (process.env['SVC_TEST_PEERS'] === 'required') {
    throw new Error(`${sentence}, and SVC_TEST_PEERS=required forbids to skip`);
  }
  t.skip(sentence);
  return undefined;
}

function runnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Not there, or not ours to run: the next folder may have it.
    return false;
  }
}
