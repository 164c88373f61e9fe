import type { Draft, LivePart, Registry } from '../../registry/index.ts';
import {
  type Disposer,
  type FieldProblem,
  type LiveEntries,
  type LiveSet,
} from '../../sdk/index.ts';
import { errors } from './errors.ts';
import type { Own } from './ports.ts';

interface Name {
  readonly table: keyof LivePart;
  readonly key: string;
}

/** The part of a draft that its generation replaces while it serves: it comes, returns and leaves with the draft. */
export class DraftLiveSet implements LiveSet {
  readonly #draft: Draft;
  readonly #registry: Registry;
  readonly #label: string;
  readonly #own: Own;
  /** Names that the last replacement could not get. */
  #refused: readonly Name[] = [];

  constructor(draft: Draft, registry: Registry, label: string, own: Own) {
    this.#draft = draft;
    this.#registry = registry;
    this.#label = label;
    this.#own = own;
  }

  replace({ personas = [], skills = [] }: LiveEntries): void {
    const { generation } = this.#draft;
    generation.scope.assertOpen(`replace ${this.#label}`);
    const names: readonly Name[] = [
      ...personas.map(({ name }) => ({ table: 'personas', key: name }) as const),
      ...skills.map(({ key }) => ({ table: 'skills', key }) as const),
    ];
    this.#refused = names.filter((name) => this.#ownerOf(name) !== undefined);
    if (this.#refused.length > 0) {
      const details = this.#refused.map((name): FieldProblem => ({
        path: `/${name.table}/${name.key}`,
        message: `plugin "${this.#ownerOf(name)}" already has one with this name`,
      }));
      throw errors.names_taken(
        { label: this.#label, plugin: generation.pluginId },
        {
          details,
        },
      );
    }
    this.#draft.replace(this.#label, {
      personas: new Map(personas.map((persona) => [persona.name, persona])),
      skills: new Map(skills.map((skill) => [skill.key, skill])),
    });
    // Before commit it is published with all the rest; and one that was replaced must not come back.
    if (this.#registry.current.holds(generation)) {
      this.#registry.publish({ add: [this.#draft] });
    }
  }

  onFree(listener: () => void): Disposer {
    const undo = this.#registry.onPublish(() => {
      if (this.#refused.some((name) => this.#ownerOf(name) === undefined)) {
        listener();
      }
    });
    return this.#own(`watch names of ${this.#label}`, undo);
  }

  /**
   * Returns the plugin that holds a name so that it cannot be taken; an earlier generation of the
   * same plugin gives way.
   */
  #ownerOf({ table, key }: Name): string | undefined {
    const own = this.#draft.generation.pluginId;
    const owner = this.#registry.current[table].get(key)?.owner.pluginId;
    return owner !== undefined && owner !== own
      ? owner
      : this.#draft.holds(table, key, this.#label)
        ? own
        : undefined;
  }
}
