import { nearest } from '../../core/sdk/nearest.ts';
import { suggestion, wordsOf, type Command, usageFailure } from 'svc/cli';

export interface Entry {
  readonly summary: string;
  /** A command is loaded when it is called, so that the small ones stay quick. */
  readonly load: () => Promise<{ readonly command: Command }>;
}

export interface Found {
  readonly name: string;
  readonly entry: Entry;
  /** What was typed besides the name. */
  readonly rest: readonly string[];
}

/** The commands that are code: they ask questions, read or write files, or work without a running svc. */
export const builtIn: Readonly<Record<string, Entry>> = {
  serve: { summary: 'Serve until stopped', load: () => import('../commands/serve.ts') },
  install: {
    summary: 'Make svc a service that starts with this machine',
    load: () => import('../commands/install.ts'),
  },
  uninstall: { summary: 'Remove that service', load: () => import('../commands/uninstall.ts') },
  update: {
    summary: 'Put another version of svc in place, and back',
    load: () => import('../commands/update.ts'),
  },
  doctor: { summary: 'Look for what could go wrong', load: () => import('../commands/doctor.ts') },
  export: {
    summary: 'Write what is configured to files fit for git',
    load: () => import('../commands/export.ts'),
  },
  apply: {
    summary: 'Bring svc in line with such files',
    load: () => import('../commands/apply.ts'),
  },
  version: { summary: 'The version of this svc', load: () => import('../commands/version.ts') },
  help: { summary: 'This page, or that of one command', load: () => import('../commands/help.ts') },
  'plugin new': {
    summary: 'Start a plugin: one route, one test',
    load: () => import('../commands/plugin/new.ts'),
  },
  'plugin build': {
    summary: 'Build a plugin into a folder that can be installed',
    load: () => import('../commands/plugin/build.ts'),
  },
  'plugin check': {
    summary: 'Say what keeps a plugin from loading',
    load: () => import('../commands/plugin/check.ts'),
  },
  'pack new': {
    summary: 'Start a pack: one route, one persona, one guide, one test',
    load: () => import('../commands/pack/new.ts'),
  },
  'pack check': {
    summary: 'Say what keeps a pack from loading',
    load: () => import('../commands/pack/check.ts'),
  },
  'pack test': {
    summary: 'Run the tests of a pack in a real svc',
    load: () => import('../commands/pack/test.ts'),
  },
  'pack build': {
    summary: 'Build a pack into one archive',
    load: () => import('../commands/pack/build.ts'),
  },
  'pack sign': { summary: 'Sign an archive', load: () => import('../commands/pack/sign.ts') },
  'pack publish': {
    summary: 'Put an archive into a registry',
    load: () => import('../commands/pack/publish.ts'),
  },
  'backup create': {
    summary: 'Copy the data, also while svc serves',
    load: () => import('../commands/backup/create.ts'),
  },
  'backup list': {
    summary: 'The backups in the data folder',
    load: () => import('../commands/backup/list.ts'),
  },
  'backup verify': {
    summary: 'Prove that a backup is whole',
    load: () => import('../commands/backup/verify.ts'),
  },
  'backup restore': {
    summary: 'Put a backup in the place of the data',
    load: () => import('../commands/backup/restore.ts'),
  },
  completion: {
    summary: 'Completion of commands for bash, zsh or fish',
    load: () => import('../commands/completion.ts'),
  },
  edge: {
    summary: 'Run the agent of this host until stopped',
    load: () => import('../commands/edge/run.ts'),
  },
  'edge install': {
    summary: 'Enrol this host with a manager and run its agent as a service',
    load: () => import('../commands/edge/install.ts'),
  },
  'edge uninstall': {
    summary: 'Remove the service of the agent',
    load: () => import('../commands/edge/uninstall.ts'),
  },
  'edge status': {
    summary: 'How the agent of this host is',
    load: () => import('../commands/edge/status.ts'),
  },
};

/** The commands that are offered, those of one group together. */
export class Catalogue {
  readonly #entries: ReadonlyMap<string, Entry>;

  constructor(entries: readonly (readonly [name: string, entry: Entry])[]) {
    const groups = [...new Set(entries.map(([name]) => groupOf(name)))];
    const sorted = entries.toSorted(
      ([a], [b]) => groups.indexOf(groupOf(a)) - groups.indexOf(groupOf(b)) || (a < b ? -1 : 1),
    );
    this.#entries = new Map(sorted);
  }

  get names(): readonly string[] {
    return [...this.#entries.keys()];
  }

  entry(name: string): Entry | undefined {
    return this.#entries.get(name);
  }

  /** Names below a first word: those of `plugin` are `plugin list`, `plugin why` … */
  membersOf(group: string): readonly string[] {
    return this.names.filter((name) => name.startsWith(`${group} `));
  }

  /** The command that is meant; its name may stand behind the global options. Undefined when no such name was typed. */
  named(args: readonly string[]): Found | undefined {
    const words = wordsOf(args);
    for (const length of [3, 2, 1]) {
      const taken = words.slice(0, length);
      const name = taken.map(({ word }) => word).join(' ');
      const entry = this.#entries.get(name);
      if (entry) {
        return {
          name,
          entry,
          rest: args.filter((_, index) => !taken.some((word) => word.index === index)),
        };
      }
    }
    return undefined;
  }

  /** The same; no name at all means help. */
  find(args: readonly string[]): Found {
    const [first, second, third] = wordsOf(args).map(({ word }) => word);
    const others = args.filter((arg) => !['--version', '--help', '-h'].includes(arg));
    if (first === undefined) {
      return this.#own(args.includes('--version') ? 'version' : 'help', others);
    }
    if (second === undefined && others.length < args.length && this.membersOf(first).length > 0) {
      return this.#own('help', others);
    }
    return (
      this.named(args) ??
      (second !== undefined && this.membersOf(`${first} ${second}`).length > 0
        ? this.#refuse(`${first} ${second}`, third)
        : this.#refuse(first, second))
    );
  }

  #own(name: 'version' | 'help', rest: readonly string[]): Found {
    return { name, entry: builtIn[name]!, rest };
  }

  #refuse(first: string, second: string | undefined): never {
    const verbs = this.membersOf(first).map((name) => name.slice(first.length + 1));
    if (verbs.length === 0) {
      const known = new Set(this.names.map(groupOf));
      throw usageFailure(
        `there is no command "${first}"${suggestion(first, known) || '; "svc help" lists them all'}`,
      );
    }
    if (second === undefined) {
      throw usageFailure(`"svc ${first}" needs one more word: ${verbs.join(', ')}`);
    }
    const guess = nearest(second, verbs);
    throw usageFailure(
      `there is no "svc ${first} ${second}"; ${guess === undefined ? `there are ${verbs.join(', ')}` : `did you mean "svc ${first} ${guess}"?`}`,
    );
  }
}

const groupOf = (name: string): string => name.split(' ')[0]!;
