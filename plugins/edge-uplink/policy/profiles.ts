import type { Policy } from 'svc/contracts/edge-uplink';

/**
 * Permissions of skills without a word of the owner, by the profile that `skills.profile` names. In all of
 * them `*` as a probe excludes the loopback and the link, which have to be named, and no service is restarted.
 */
export const profiles: Readonly<Record<string, Policy['skills']>> = {
  /** Profile that looks at everything that an engineer would look at first, and reads logs alone. */
  observe: {
    enabled: true,
    paths: [
      '/var/log/**',
      '/etc/os-release',
      '/usr/lib/os-release',
      '/etc/hosts',
      '/etc/fstab',
      '/etc/resolv.conf',
      '/etc/logrotate.conf',
      '/etc/logrotate.d/**',
    ],
    measure: ['/**'],
    views: ['*'],
    containers: ['/run/docker.sock', '/run/podman/podman.sock'],
    databases: [],
    commands: [],
    kubeconfig: undefined,
    browser: undefined,
    services: [],
    probes: ['*:*'],
  },
  /** Profile that reads logs, and probes other hosts. */
  logs: {
    enabled: true,
    paths: ['/var/log/**', '/etc/os-release', '/usr/lib/os-release'],
    measure: [],
    views: [],
    containers: [],
    databases: [],
    commands: [],
    kubeconfig: undefined,
    browser: undefined,
    services: [],
    probes: ['*:*'],
  },
  /** Profile of nothing but what the file itself lists. */
  listed: {
    enabled: true,
    paths: [],
    measure: [],
    views: [],
    containers: [],
    databases: [],
    commands: [],
    kubeconfig: undefined,
    browser: undefined,
    services: [],
    probes: [],
  },
};

/**
 * Policy without a file: a shell through the host's own sshd, no access to the surrounding network,
 * logs in their usual places.
 */
export const defaultPolicy: Policy = {
  tcp: ['127.0.0.1:22'],
  webshell: true,
  skills: profiles['observe']!,
  plugins: { allowed: ['*'] },
  logs: { paths: ['/var/log/**'] },
};

/** Policy that allows nothing: an invalid section of the file counts as this one's. */
export const closedPolicy: Policy = {
  tcp: [],
  webshell: false,
  skills: { ...profiles['listed']!, enabled: false },
  plugins: { allowed: [] },
  logs: { paths: [] },
};
