import type { Policy } from 'svc/contracts/edge-uplink';
import { messageOf } from 'svc/sdk';

import { errors } from './errors.ts';
import { type Entry, parsePolicy } from './policy-text.ts';
import { closedPolicy, defaultPolicy, profiles } from './profiles.ts';

/** Policy that a file states. A section that is invalid allows nothing; the others apply as they are written. */
export interface PolicyReading {
  readonly policy: Policy;
  /** Invalid parts, each with its line, key and remedy. */
  readonly problems: readonly string[];
  /** True if the owner's word on plugins is not known, because that section or the whole file is invalid. */
  readonly pluginsUnclear: boolean;
}

const maxEntries = 256;
const sections = ['tcp', 'webshell', 'skills', 'plugins', 'logs'] as const;
type SectionName = (typeof sections)[number];

export function readPolicy(text: string): PolicyReading {
  const problems: string[] = [];
  let file: Entry;
  try {
    file = mapping(parsePolicy(text));
  } catch (error) {
    return {
      policy: closedPolicy,
      problems: [`${sentence(error)}; until it is corrected, ${closedNotice}`],
      pluginsUnclear: true,
    };
  }
  const closed = new Set<SectionName>();
  try {
    assertKeys(file, sections);
  } catch (error) {
    // The unknown key may be meant for any of the sections that are not there.
    const missing = sections.filter((name) => file.at(name).value === undefined);
    missing.forEach((name) => closed.add(name));
    problems.push(complaint(error, missing));
  }
  const section = <Name extends SectionName>(
    name: Name,
    read: (entry: Entry) => Policy[Name],
  ): Policy[Name] => {
    if (!closed.has(name)) {
      try {
        return read(file.at(name));
      } catch (error) {
        closed.add(name);
        problems.push(complaint(error, [name]));
      }
    }
    return closedPolicy[name];
  };
  const policy = {
    tcp: section('tcp', (entry) => list(entry, defaultPolicy.tcp, targets)),
    webshell: section('webshell', (entry) => flag(entry, defaultPolicy.webshell)),
    skills: section('skills', readSkills),
    plugins: section('plugins', (entry) => ({
      allowed: list(fields(entry, ['allowed']).at('allowed'), ['*'], pluginNames),
    })),
    logs: section('logs', (entry) => ({
      paths: list(fields(entry, ['paths']).at('paths'), defaultPolicy.logs.paths, paths),
    })),
  };
  return { policy, problems, pluginsUnclear: closed.has('plugins') };
}

const closedNotice = 'only metrics of the machine are collected';

const complaint = (error: unknown, closed: readonly SectionName[]): string =>
  `${sentence(error)}${closed.length === 0 ? '' : `; until it is corrected, ${effects(closed)}`}`;

const sentence = (error: unknown): string => messageOf(error).replace(/\.$/, '');

function effects(closed: readonly SectionName[]): string {
  const stopped = closed.filter((name) => name !== 'plugins').map((name) => `"${name}"`);
  return [
    ...(stopped.length === 0
      ? []
      : [`${stopped.join(', ')} ${stopped.length === 1 ? 'allows' : 'allow'} nothing`]),
    ...(closed.includes('plugins') ? ['only plugins that measure the machine run'] : []),
  ].join(' and ');
}

/** Fields of the section `skills`; each that is omitted is that of the profile. */
function readSkills(entry: Entry): Policy['skills'] {
  const given = fields(entry, [
    'profile',
    'enabled',
    'paths',
    'measure',
    'views',
    'containers',
    'databases',
    'commands',
    'kubeconfig',
    'browser',
    'services',
    'probes',
  ]);
  const usual = profileOf(given);
  const listed = (name: Lists, form: Form): readonly string[] =>
    list(given.at(name), usual[name], form);
  return {
    enabled: flag(given.at('enabled'), usual.enabled),
    paths: listed('paths', paths),
    // What may be read may be measured.
    measure: [...listed('measure', paths), ...listed('paths', paths)],
    views: listed('views', views),
    containers: listed('containers', sockets),
    databases: listed('databases', databases),
    commands: listed('commands', commands),
    kubeconfig: path(given.at('kubeconfig'), usual.kubeconfig),
    browser: path(given.at('browser'), usual.browser),
    services: listed('services', units),
    probes: listed('probes', probes),
  };
}

type Lists = Exclude<keyof Policy['skills'], 'enabled' | 'kubeconfig' | 'browser'>;

/**
 * A file that limits `paths` and names no profile was written when logs were all that there was: it
 * is to allow no more today.
 */
function profileOf(given: Entry): Policy['skills'] {
  const { value: profile, line } = given.at('profile');
  if (profile === undefined) {
    return profiles[given.at('paths').value === undefined ? 'observe' : 'logs']!;
  }
  const known = typeof profile === 'string' && Object.hasOwn(profiles, profile);
  if (!known) {
    throw errors.policy_profile({ line, profiles: Object.keys(profiles).join(', ') });
  }
  return profiles[profile]!;
}

/** Form of the strings in a list, as a pattern and in words. */
interface Form {
  readonly kind: string;
  readonly pattern: RegExp;
}

const paths: Form = { kind: 'absolute paths, such as "/var/log/**"', pattern: /^\// };
const sockets: Form = { kind: 'absolute paths of sockets', pattern: /^\// };
const views: Form = { kind: 'names of views, such as "units"', pattern: /^(\*|[a-z]+)$/ };
const units: Form = { kind: 'systemd units, such as "nginx"', pattern: /^[\w@.:-]+$/ };
const pluginNames: Form = {
  kind: 'names of plugins, such as "hostmetrics", or "*"',
  pattern: /^(\*|[a-z][a-z0-9_-]*)$/,
};
const databases: Form = {
  kind: 'databases, such as "orders=postgres://USER:PASSWORD@HOST/NAME"',
  pattern: /^[a-z][\w-]*=(postgres|mysql|redis):\/\//,
};
const commands: Form = {
  kind: 'commands, such as "disk=/usr/lib/nagios/plugins/check_disk -w 20% -c 10%"',
  pattern: /^[a-z][a-z0-9_-]{0,63}=\/[^\s]+(?: +[^\s]+)*$/,
};
const targets: Form = {
  kind: 'targets, such as "127.0.0.1:22"',
  pattern: /^(\[[0-9a-fA-F:]+\]|[^\s:/]+):\d{1,5}$/,
};
const probes: Form = {
  kind: 'targets, such as "db.example:5432" or "*:443"',
  pattern: /^(\[[0-9a-fA-F:]+(\/\d{1,3})?\]|[^\s:[\]]+):(\*|\d{1,5}(-\d{1,5})?)$/,
};

function fields(entry: Entry, known: readonly string[]): Entry {
  const checked = mapping(entry);
  assertKeys(checked, known);
  return checked;
}

function mapping(entry: Entry): Entry {
  const { value, line, name } = entry;
  if (
    value !== undefined &&
    value !== null &&
    (typeof value !== 'object' || Array.isArray(value))
  ) {
    throw errors.policy_mapping({ line, name });
  }
  return entry;
}

function assertKeys(entry: Entry, known: readonly string[]): void {
  const unknown = Object.keys(entry.value ?? {}).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    throw errors.policy_key({
      line: entry.at(unknown).line,
      name: entry.name,
      unknown,
      known: known.join(', '),
    });
  }
}

/** Lists whose entries may contain passwords. */
const hidden: readonly string[] = ['skills.databases', 'skills.commands'];

function list(
  { value, line, name }: Entry,
  usual: readonly string[],
  { kind, pattern }: Form,
): readonly string[] {
  if (value === undefined) {
    return usual;
  }
  const items: readonly unknown[] | undefined = Array.isArray(value) ? value : undefined;
  if (items === undefined || items.length > maxEntries) {
    throw errors.policy_list({ line, name, maxEntries, kind });
  }
  const wrong = items.findIndex((one) => typeof one !== 'string' || !pattern.test(one));
  if (wrong >= 0) {
    // What is listed with a password must not get into logs and messages.
    const shown = hidden.includes(name)
      ? `another entry (${wrong + 1})`
      : JSON.stringify(items[wrong]);
    throw errors.policy_item({ line, name, kind, wrong: shown.slice(0, 100) });
  }
  return items as readonly string[];
}

function path({ value, line, name }: Entry, usual: string | undefined): string | undefined {
  if (value !== undefined && !(typeof value === 'string' && value.startsWith('/'))) {
    throw errors.policy_path({ line, name });
  }
  return value ?? usual;
}

function flag({ value, line, name }: Entry, usual: boolean): boolean {
  if (value !== undefined && typeof value !== 'boolean') {
    throw errors.policy_flag({ line, name });
  }
  return value ?? usual;
}
