import { isDeepStrictEqual } from 'node:util';

import type {
  KnownPersona,
  PersonaDirectory,
  PersonaRestraint,
  Route,
} from 'svc/contracts/persona';
import {
  type Clock,
  type Contribution,
  type Logger,
  messageOf,
  type OpenPoint,
  type Persona,
  type Principal,
  type Settings,
} from 'svc/sdk';

import { isRouted } from './by-name.ts';
import type { Conditions } from './conditions.ts';
import { errors } from './errors.ts';
import { initialPrompt } from './initial-prompt.ts';
import { LookAlikes } from './look-alikes.ts';
import type { OwnPersonas } from './own-personas.ts';
import type { NamedThings } from './routing/named.ts';
import { Router } from './routing/router.ts';
import type { Versions } from './versions.ts';

export interface DirectoryPorts {
  /** Returns the personas of plugins and files; the same list until anything is published. */
  readonly published: () => readonly Contribution<Persona>[];
  readonly own: OwnPersonas;
  readonly versions: Versions;
  readonly conditions: Conditions;
  readonly named: Pick<NamedThings, 'about'>;
  readonly restraints: Pick<OpenPoint<PersonaRestraint>, 'list' | 'gather'>;
  readonly settings: Pick<Settings, 'get'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Programs and settings come and go without telling. */
const lookAgainMs = 10_000;
const ranks: readonly Persona['source'][] = ['builtin', 'disk', 'user'];

/** All personas, merged: built in, then of files, then of users; a later one shadows an earlier one of its name. */
export class Directory implements PersonaDirectory {
  readonly #ports: DirectoryPorts;
  #seen:
    | {
        readonly published: unknown;
        readonly own: unknown;
        readonly restraints: string;
        readonly at: number;
      }
    | undefined;
  #all: ReadonlyMap<string, KnownPersona> = new Map();
  #list: readonly KnownPersona[] = [];
  #lookAlikes = new LookAlikes([]);
  /** Undefined until the first question to these personas. */
  #router: Router | undefined;

  constructor(ports: DirectoryPorts) {
    this.#ports = ports;
  }

  list(): readonly KnownPersona[] {
    this.#look();
    return this.#list;
  }

  find(name: string): KnownPersona | undefined {
    this.#look();
    return this.#all.get(name);
  }

  /**
   * Returns the source of a persona of this name that is not a user's, whether or not a user's
   * replaces it.
   */
  published(name: string): Persona['source'] | undefined {
    return this.#ports.published().find(({ value }) => value.name === name)?.value.source;
  }

  /** Returns the persona that a new one of this name would be mistaken for. */
  mistakenFor(name: string): string | undefined {
    this.#look();
    return this.#lookAlikes.mistakenFor(name);
  }

  async route(question: string, principal: Principal): Promise<Route> {
    const named = await this.#named(question, principal);
    this.#look();
    this.#router ??= new Router(
      this.#list.filter((persona) => persona.unmet.length === 0 && isRouted(persona)),
    );
    const { clear, candidates, words } = this.#router.rank(question, named);
    const first = clear ? this.#all.get(candidates[0]!.name)! : this.#standard();
    const why = clear
      ? `${first.name} matches best, by: ${words.join(', ')}`
      : candidates.length === 0
        ? `no persona shares a word with the question; the default persona ${first.name} answers`
        : `${candidates
            .slice(0, 3)
            .map(({ name }) => name)
            .join(', ')} match about equally well; ${first.name} answers`;
    return { persona: first, why, clear, candidates };
  }

  /** Names only hint at a subject, so a question is routed without them as well. */
  async #named(question: string, principal: Principal): Promise<readonly string[]> {
    const { named, log } = this.#ports;
    try {
      return await named.about(question, principal);
    } catch (error) {
      log.warn(
        { event: 'persona.names_not_looked_up', error: messageOf(error) },
        'failed to look up the names in a question; routing by the words of the question only',
      );
      return [];
    }
  }

  /** Deletes the change counts of names that no persona has any more. */
  async forget(names: readonly string[]): Promise<void> {
    await this.#ports.versions.forget(names.filter((name) => this.find(name) === undefined));
  }

  initialPrompt(
    persona: Persona,
    context: Readonly<Record<string, unknown>>,
    principal: Principal,
  ): string {
    return initialPrompt(persona, context, principal);
  }

  #standard(): KnownPersona {
    const name = this.#ports.settings.get<string>('agents.default_persona');
    const found = this.#all.get(name) ?? this.#list.find(({ unmet }) => unmet.length === 0);
    if (!found) {
      throw errors.none({ name });
    }
    return found;
  }

  #look(): void {
    const { published, own, clock, restraints } = this.#ports;
    const editions = restraints.gather(({ id, value }) => `${id} ${value.edition()}`);
    const now = {
      published: published(),
      own: own.all,
      restraints: editions.join(),
      at: clock.monotonic(),
    };
    const seen = this.#seen;
    if (
      seen &&
      seen.published === now.published &&
      seen.own === now.own &&
      seen.restraints === now.restraints &&
      now.at - seen.at < lookAgainMs
    ) {
      return;
    }
    this.#seen = now;
    const list = this.#merged().toSorted((a, b) => (a.name < b.name ? -1 : 1));
    if (!isDeepStrictEqual(list, this.#list)) {
      this.#list = list;
      this.#all = new Map(list.map((persona) => [persona.name, persona]));
      this.#router = undefined;
    }
  }

  #merged(): KnownPersona[] {
    const { published, own, versions, conditions } = this.#ports;
    const all = [
      ...published().map(({ value }) => value),
      ...[...own.all.values()].map(({ persona }) => persona),
    ];
    const byName = new Map(
      ranks
        .flatMap((rank) => all.filter(({ source }) => source === rank))
        .map((persona) => [persona.name, persona]),
    );
    this.#lookAlikes = new LookAlikes(all);
    return [...byName.values()].map((found) => {
      const { persona, unmet } = this.#held(found);
      const other = this.#lookAlikes.mistakenFor(persona.name);
      return Object.freeze({
        ...persona,
        version: versions.of(persona),
        unmet: [
          ...unmet,
          ...(other === undefined
            ? []
            : [`its name could be mistaken for that of the persona ${other}; rename it`]),
          ...conditions.unmet(persona),
        ],
      });
    });
  }

  /** Applies restraints; one that a local user wrote under the same name is not restrained. */
  #held(persona: Persona): { readonly persona: Persona; readonly unmet: readonly string[] } {
    const sources = this.#ports.restraints;
    const answers = sources.gather(({ value }) => ({ held: value.restraint(persona.name) }));
    const restraints = [
      ...answers.flatMap(({ held }) => held ?? []),
      // One that fails to answer may have held it back.
      ...(answers.length < sources.list().length
        ? [{ unmet: 'a plugin that restrains personas failed; see "svc plugin list"' }]
        : []),
    ];
    if (persona.pack !== undefined && restraints.length === 0) {
      restraints.push({
        unmet: `comes with the pack ${persona.pack}, which was copied into the data folder; install it with "svc market install" or "svc market link"`,
      });
    }
    if (persona.source === 'user' || restraints.length === 0) {
      return { persona, unmet: [] };
    }
    return {
      persona: { ...persona, permission_mode: 'read-only' },
      unmet: restraints.flatMap(({ unmet }) => unmet ?? []),
    };
  }
}
