import { nearest } from '../../core/sdk/nearest.ts';
import { suggestion, wordsOf, type Command, usageFailure } from 'svc/cli';

/** A command as it is listed; loaded when it is called, so that the small ones stay quick. */
export interface Entry {
  readonly summary: string;
  /** `all` finds every command there is, for those that tell of the others. */
  readonly load: (all: () => Promise<Catalogue>) => Promise<{ readonly command: Command }>;
}

/** A command that was called. */
export interface Found {
  readonly name: string;
  readonly entry: Entry;
  /** Arguments after the name. */
  readonly rest: readonly string[];
}

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

  async load(name: string): Promise<Command> {
    return (await this.#entries.get(name)!.load(async () => this)).command;
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
    return { name, entry: this.#entries.get(name)!, rest };
  }

  #refuse(first: string, second: string | undefined): never {
    const verbs = this.membersOf(first).map((name) => name.slice(first.length + 1));
    if (verbs.length === 0) {
      const known = new Set(this.names.map(groupOf));
      throw usageFailure(
        `unknown command "${first}"${suggestion(first, known) || '; "svc help" lists all commands'}`,
      );
    }
    if (second === undefined) {
      throw usageFailure(`"svc ${first}" needs a subcommand: ${verbs.join(', ')}`);
    }
    const guess = nearest(second, verbs);
    throw usageFailure(
      `unknown command "svc ${first} ${second}"; ${guess === undefined ? `available: ${verbs.join(', ')}` : `did you mean "svc ${first} ${guess}"?`}`,
    );
  }
}

const groupOf = (name: string): string => name.split(' ')[0]!;
