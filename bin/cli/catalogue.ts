import { nearest } from '../../core/sdk/nearest.ts';
import { suggestion, wordsOf } from './arguments.ts';
import type { Command } from './command.ts';
import { usageFailure } from './failure.ts';

export interface Entry {
  readonly summary: string;
  /** A command is loaded when it is called, so that the small ones stay quick. */
  readonly load: () => Promise<{ readonly command: Command }>;
}

export const catalogue: Readonly<Record<string, Entry>> = {
  serve: { summary: 'Serve until stopped', load: () => import('../commands/serve.ts') },
  'plugin list': { summary: 'Every plugin and where it stands', load: () => import('../commands/plugin-list.ts') },
  'plugin why': { summary: 'Why a plugin is in the state it is in', load: () => import('../commands/plugin-why.ts') },
  'plugin reload': { summary: 'Replace what serves by a fresh generation', load: () => import('../commands/plugin-reload.ts') },
  'plugin disable': { summary: 'Take a plugin out of service', load: () => import('../commands/plugin-disable.ts') },
  'plugin enable': { summary: 'Let a disabled or quarantined plugin serve again', load: () => import('../commands/plugin-enable.ts') },
  'plugin new': { summary: 'Start a plugin: one route, one test', load: () => import('../commands/plugin-new.ts') },
  'plugin build': { summary: 'Build a plugin into a folder that can be installed', load: () => import('../commands/plugin-build.ts') },
  'plugin check': { summary: 'Say what keeps a plugin from loading', load: () => import('../commands/plugin-check.ts') },
  'backup create': { summary: 'Copy the data, also while svc serves', load: () => import('../commands/backup-create.ts') },
  'backup list': { summary: 'The backups in the data folder', load: () => import('../commands/backup-list.ts') },
  'backup verify': { summary: 'Prove that a backup is whole', load: () => import('../commands/backup-verify.ts') },
  'backup restore': { summary: 'Put a backup in the place of the data', load: () => import('../commands/backup-restore.ts') },
  'audit verify': { summary: 'Prove that the audit trail is whole', load: () => import('../commands/audit-verify.ts') },
  'audit export': { summary: 'Download the audit trail', load: () => import('../commands/audit-export.ts') },
  'user list': { summary: 'Who has an account', load: () => import('../commands/user-list.ts') },
  'user create': { summary: 'Make an account, also the first one', load: () => import('../commands/user-create.ts') },
  'user set-role': { summary: 'Change what somebody may do', load: () => import('../commands/user-set-role.ts') },
  'user reset-password': { summary: 'Give an account a new password', load: () => import('../commands/user-reset-password.ts') },
  'token list': { summary: 'Your API tokens', load: () => import('../commands/token-list.ts') },
  'token create': { summary: 'Make an API token for a program', load: () => import('../commands/token-create.ts') },
  'token revoke': { summary: 'Take an API token back', load: () => import('../commands/token-revoke.ts') },
  'setting list': { summary: 'Every setting, its value and where that comes from', load: () => import('../commands/setting-list.ts') },
  'setting get': { summary: 'The value of one setting', load: () => import('../commands/setting-get.ts') },
  'setting set': { summary: 'Change a setting of the running svc', load: () => import('../commands/setting-set.ts') },
  'setting unset': { summary: 'Let a setting go back to its file or default', load: () => import('../commands/setting-unset.ts') },
  'key rotate': { summary: 'Seal every secret again with a new key', load: () => import('../commands/key-rotate.ts') },
  'rule test': { summary: "Run Prometheus' rule unit tests", load: () => import('../commands/rule-test.ts') },
  edge: { summary: 'Run the agent of this host until stopped', load: () => import('../commands/edge.ts') },
  'edge install': { summary: 'Enrol this host with a manager and run its agent as a service', load: () => import('../commands/edge-install.ts') },
  'edge uninstall': { summary: 'Remove the service of the agent', load: () => import('../commands/edge-uninstall.ts') },
  'edge status': { summary: 'How the agent of this host is', load: () => import('../commands/edge-status.ts') },
  'edge-sim': { summary: 'Simulate a fleet of hosts, to see what a manager carries', load: () => import('../commands/edge-sim.ts') },
  login: { summary: 'Sign in, so that commands speak as you', load: () => import('../commands/login.ts') },
  logout: { summary: 'End what "svc login" began', load: () => import('../commands/logout.ts') },
  doctor: { summary: 'Look for what could go wrong', load: () => import('../commands/doctor.ts') },
  version: { summary: 'The version of this svc', load: () => import('../commands/version.ts') },
  help: { summary: 'This page, or that of one command', load: () => import('../commands/help.ts') },
};

export interface Found {
  readonly name: string;
  /** What was typed besides the name. */
  readonly rest: readonly string[];
}

/** The command that is meant; its name may stand behind the global options. */
export function findCommand(args: readonly string[]): Found {
  const words = wordsOf(args);
  for (const length of [2, 1]) {
    const taken = words.slice(0, length);
    const name = taken.map(({ word }) => word).join(' ');
    if (Object.hasOwn(catalogue, name)) {
      return { name, rest: args.filter((_, index) => !taken.some((word) => word.index === index)) };
    }
  }
  const [first, second] = words.map(({ word }) => word);
  const others = args.filter((arg) => !['--version', '--help', '-h'].includes(arg));
  if (first === undefined) {
    return { name: args.includes('--version') ? 'version' : 'help', rest: others };
  }
  if (second === undefined && others.length < args.length && membersOf(first).length > 0) {
    return { name: 'help', rest: others };
  }
  throw unknownCommand(first, second);
}

/** Names below a first word: those of `plugin` are `plugin list`, `plugin why` … */
export const membersOf = (group: string): readonly string[] => Object.keys(catalogue).filter((name) => name.startsWith(`${group} `));

function unknownCommand(first: string, second: string | undefined): Error {
  const verbs = membersOf(first).map((name) => name.slice(first.length + 1));
  if (verbs.length === 0) {
    const known = new Set(Object.keys(catalogue).map((name) => name.split(' ')[0]!));
    return usageFailure(`there is no command "${first}"${suggestion(first, known) || '; "svc help" lists them all'}`);
  }
  if (second === undefined) {
    return usageFailure(`"svc ${first}" needs one more word: ${verbs.join(', ')}`);
  }
  const guess = nearest(second, verbs);
  return usageFailure(
    `there is no "svc ${first} ${second}"; ${guess === undefined ? `there are ${verbs.join(', ')}` : `did you mean "svc ${first} ${guess}"?`}`,
  );
}
