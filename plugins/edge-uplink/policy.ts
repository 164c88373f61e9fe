import { statSync } from 'node:fs';
import { join } from 'node:path';

import type { LocalPolicy, Policy } from 'svc/contracts/edge-uplink';
import { type Logger, messageOf } from 'svc/sdk';
import { readText } from 'svc/tunnel';
import { parse } from 'yaml';

import { errors } from './errors.ts';

/**
 * Permissions of skills without a word of the owner, by the profile that `skills.profile` names. In all of
 * them `*` as a probe excludes the loopback and the link, which have to be named, and no service is restarted.
 */
const profiles: Readonly<Record<string, Policy['skills']>> = {
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
    kubeconfig: undefined,
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
    kubeconfig: undefined,
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
    kubeconfig: undefined,
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

/** Policy of an invalid file: nothing is allowed. */
const closedPolicy: Policy = {
  tcp: [],
  webshell: false,
  skills: { ...profiles['listed']!, enabled: false },
  plugins: { allowed: [] },
  logs: { paths: [] },
};

const maxEntries = 256;

/** Policy in `policy.yaml` of the data folder; what it omits has the default. */
export class PolicyFile implements LocalPolicy {
  readonly #file: string;
  readonly #log: Logger;
  #stamp: string | undefined;
  #policy = defaultPolicy;

  constructor(dataDir: string, log: Logger) {
    this.#file = join(dataDir, 'policy.yaml');
    this.#log = log;
  }

  current(): Policy {
    const stat = statSync(this.#file, { throwIfNoEntry: false });
    const stamp = stat ? `${stat.mtimeMs} ${stat.size} ${stat.ino}` : '';
    if (stamp !== this.#stamp) {
      this.#stamp = stamp;
      this.#policy = stat ? this.#read() : defaultPolicy;
    }
    return this.#policy;
  }

  #read(): Policy {
    try {
      return readPolicy(readText(this.#file) ?? '');
    } catch (error) {
      this.#log.error(
        { event: 'uplink.policy_invalid', file: this.#file, cause: messageOf(error) },
        'policy file is invalid; nothing is allowed until it is corrected',
      );
      return closedPolicy;
    }
  }
}

export function readPolicy(text: string): Policy {
  const given = section(parse(text, { maxAliasCount: 0, schema: 'core' }), 'the policy', [
    'tcp',
    'webshell',
    'skills',
    'plugins',
    'logs',
  ]);
  const plugins = section(given['plugins'], 'plugins', ['allowed']);
  const logs = section(given['logs'], 'logs', ['paths']);
  const usual = defaultPolicy;
  return {
    tcp: texts(given['tcp'], 'tcp', usual.tcp, /^(\[[0-9a-fA-F:]+\]|[^\s:/]+):\d{1,5}$/),
    webshell: flag(given['webshell'], 'webshell', usual.webshell),
    skills: readSkills(given['skills']),
    plugins: {
      allowed: texts(
        plugins['allowed'],
        'plugins.allowed',
        usual.plugins.allowed,
        /^(\*|[a-z][a-z0-9_-]*)$/,
      ),
    },
    logs: { paths: texts(logs['paths'], 'logs.paths', usual.logs.paths, /^\//) },
  };
}

/** Fields of the section `skills`; each that is omitted is that of the profile. */
function readSkills(value: unknown): Policy['skills'] {
  const given = section(value, 'skills', [
    'profile',
    'enabled',
    'paths',
    'measure',
    'views',
    'containers',
    'databases',
    'kubeconfig',
    'services',
    'probes',
  ]);
  const usual = profileOf(given);
  const { kubeconfig = usual.kubeconfig } = given;
  if (kubeconfig !== undefined && !(typeof kubeconfig === 'string' && kubeconfig.startsWith('/'))) {
    throw errors.policy_path({ name: 'skills.kubeconfig' });
  }
  const list = (name: Lists, form: RegExp): readonly string[] =>
    texts(given[name], `skills.${name}`, usual[name], form);
  return {
    enabled: flag(given['enabled'], 'skills.enabled', usual.enabled),
    paths: list('paths', /^\//),
    // What may be read may be measured.
    measure: [...list('measure', /^\//), ...list('paths', /^\//)],
    views: list('views', /^(\*|[a-z]+)$/),
    containers: list('containers', /^\//),
    databases: list('databases', /^[a-z][\w-]*=(postgres|mysql|redis):\/\//),
    kubeconfig,
    services: list('services', /^[\w@.:-]+$/),
    probes: list('probes', /^(\[[0-9a-fA-F:]+(\/\d{1,3})?\]|[^\s:[\]]+):(\*|\d{1,5}(-\d{1,5})?)$/),
  };
}

type Lists = Exclude<keyof Policy['skills'], 'enabled' | 'kubeconfig'>;

/**
 * A file that limits `paths` and names no profile was written when logs were all that there was: it
 * is to allow no more today.
 */
function profileOf(given: Readonly<Record<string, unknown>>): Policy['skills'] {
  const { profile, paths } = given;
  if (profile === undefined) {
    return profiles[paths === undefined ? 'observe' : 'logs']!;
  }
  const known = typeof profile === 'string' && Object.hasOwn(profiles, profile);
  if (!known) {
    throw errors.policy_profile({ profiles: Object.keys(profiles).join(', ') });
  }
  return profiles[profile]!;
}

function section(
  value: unknown,
  name: string,
  known: readonly string[],
): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) {
    return {};
  }
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw errors.policy_mapping({ name });
  }
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    throw errors.policy_key({ name, unknown, known: known.join(', ') });
  }
  return value as Record<string, unknown>;
}

function texts(
  value: unknown,
  name: string,
  usual: readonly string[],
  form: RegExp,
): readonly string[] {
  if (value === undefined) {
    return usual;
  }
  if (
    !Array.isArray(value) ||
    value.length > maxEntries ||
    !value.every((one) => typeof one === 'string' && form.test(one))
  ) {
    throw errors.policy_list({ name, maxEntries, source: form.source });
  }
  return value as string[];
}

function flag(value: unknown, name: string, usual: boolean): boolean {
  if (value !== undefined && typeof value !== 'boolean') {
    throw errors.policy_flag({ name });
  }
  return value ?? usual;
}
