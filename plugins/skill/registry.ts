import type { Guide, SkillList, SkillRegistry, Tool, ToolSource } from 'svc/contracts/skill';
import { type ScopeSource, scopeOf } from 'svc/query';
import {
  areasRead,
  type Contribution,
  type DeclaredCatalogue,
  type Handle,
  type OpenPoint,
  type Principal,
  type PromptSkill,
  type Skill,
  type SkillClass,
  type ToolSkill,
} from 'svc/sdk';

export interface RegistryParts {
  readonly catalogue: Pick<DeclaredCatalogue, 'skills'>;
  readonly sources: Pick<OpenPoint<ToolSource>, 'gather'>;
  readonly scopes: Handle<ScopeSource>;
  /** Tools of this plugin. */
  readonly own: readonly Tool[];
}

/** Runner of a tool: this plugin, the plugin that declared it, or its source. */
export type Runnable =
  | { readonly by: 'room' }
  | { readonly by: 'plugin'; readonly skill: ToolSkill }
  | { readonly by: 'source'; readonly source: ToolSource };

/** List of tools, with how each is run. */
export interface RunnableList extends SkillList {
  runnable(key: string): { readonly tool: Tool; readonly runnable: Runnable } | undefined;
}

interface Edition {
  readonly tools: readonly Tool[];
  readonly guides: readonly Guide[];
  readonly byKey: ReadonlyMap<string, { readonly tool: Tool; readonly runnable: Runnable }>;
  readonly byAlias: ReadonlyMap<string, Tool>;
}

const classes: Readonly<Record<string, SkillClass>> = {
  safe: 'safe',
  mutating: 'mutating',
  dangerous: 'dangerous',
  read: 'safe',
  write: 'mutating',
  destructive: 'dangerous',
};

/** Returns the class by any of its names; an unknown one counts as dangerous. */
export const classNamed = (name: string): SkillClass =>
  Object.hasOwn(classes, name) ? classes[name]! : 'dangerous';

/**
 * List in which a key belongs to this plugin first, then to the host's table, then to the earliest
 * source.
 */
class List implements RunnableList {
  readonly #current: () => Edition;

  constructor(current: () => Edition) {
    this.#current = current;
  }

  tools(): readonly Tool[] {
    return this.#current().tools;
  }

  guides(): readonly Guide[] {
    return this.#current().guides;
  }

  tool(key: string): Tool | undefined {
    return this.#current().byKey.get(key)?.tool;
  }

  aliases(): ReadonlyMap<string, Tool> {
    return this.#current().byAlias;
  }

  runnable(key: string): { readonly tool: Tool; readonly runnable: Runnable } | undefined {
    return this.#current().byKey.get(key);
  }
}

/** Everything that can be called, of the host's own table and of all sources. */
export class Registry extends List implements SkillRegistry {
  readonly #parts: RegistryParts;
  #kept: { readonly of: readonly unknown[]; readonly edition: Edition } | undefined;

  constructor(parts: RegistryParts) {
    super(() => this.#whole());
    this.#parts = parts;
  }

  async shownTo(asker: Pick<Principal, 'selectors'>): Promise<RunnableList> {
    const { catalogue, sources, scopes, own } = this.#parts;
    const seen = await scopeOf(scopes, asker);
    if (seen === undefined) {
      return this;
    }
    const lists = sources.gather(({ value }) => ({
      source: value,
      tools: toolsIn(value.listFor?.(seen) ?? value.list()),
    }));
    const edition = editionOf(own, catalogue.skills(), lists);
    return new List(() => edition);
  }

  /** Lists are the same objects until they change, which makes looking cheap. */
  #whole(): Edition {
    const { catalogue, sources, own } = this.#parts;
    const declared = catalogue.skills();
    const lists = sources.gather(({ value }) => ({ source: value, tools: toolsIn(value.list()) }));
    const of = [declared, ...lists.flatMap(({ source, tools }) => [source, tools])];
    if (
      of.length !== this.#kept?.of.length ||
      of.some((part, index) => part !== this.#kept!.of[index])
    ) {
      this.#kept = { of, edition: editionOf(own, declared, lists) };
    }
    return this.#kept.edition;
  }
}

/** Throws for what is no list of tools, so that its source is left out and not all of them. */
function toolsIn(listed: readonly Tool[]): readonly Tool[] {
  const strange = listed.findIndex((tool) => typeof tool.key !== 'string');
  if (strange !== -1) {
    throw new TypeError(`tool ${strange} of its list has no key`);
  }
  return listed;
}

interface Listed {
  readonly source: ToolSource;
  readonly tools: readonly Tool[];
}

function editionOf(
  own: readonly Tool[],
  declared: readonly Contribution<Skill>[],
  lists: readonly Listed[],
): Edition {
  const byKey = new Map<string, { tool: Tool; runnable: Runnable }>(
    own.map((tool) => [tool.key, { tool, runnable: { by: 'room' } }]),
  );
  const guides: Guide[] = [];
  for (const { pluginId, value } of declared) {
    if (value.kind === 'prompt') {
      guides.push(guideOf(value, pluginId));
    } else if (!byKey.has(value.key)) {
      byKey.set(value.key, {
        tool: toolOf(value, pluginId),
        runnable: { by: 'plugin', skill: value },
      });
    }
  }
  for (const { source, tools: listed } of lists) {
    for (const tool of listed) {
      if (!byKey.has(tool.key)) {
        byKey.set(tool.key, {
          tool: { ...tool, class: classNamed(tool.class) },
          runnable: { by: 'source', source },
        });
      }
    }
  }
  const byName = (a: { key: string }, b: { key: string }): number => (a.key < b.key ? -1 : 1);
  const tools = [...byKey.values()].map(({ tool }) => tool).toSorted(byName);
  return { byKey, tools, byAlias: aliasesOf(tools), guides: guides.toSorted(byName) };
}

/** Vendors of models take letters, digits, `_` and `-`, at most 64 of them. */
function aliasesOf(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const aliases = new Map<string, Tool>();
  for (const tool of tools) {
    const plain = tool.key.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 60);
    let alias = plain;
    for (let count = 2; aliases.has(alias); count++) {
      alias = `${plain}_${count}`;
    }
    aliases.set(alias, tool);
  }
  return aliases;
}

/** Schemas as callers see them, by those that plugins declare: a check is compiled once for each. */
const optional = new WeakMap<object, Readonly<Record<string, unknown>>>();

function toolOf(skill: ToolSkill, source: string): Tool {
  const { key, name, description, scope, class: kind, tier, devices, params, result } = skill;
  const declared = params as unknown as Readonly<Record<string, unknown>>;
  const schema = optional.get(declared) ?? withoutDefaultsRequired(declared);
  optional.set(declared, schema);
  const answers = result as unknown as Readonly<Record<string, unknown>> | undefined;
  // Answers of plugins mostly come from machines and people.
  return {
    key,
    name,
    description,
    scope,
    class: classNamed(kind),
    tier,
    schema,
    source,
    trust: 'untrusted',
    ...(answers && { result_schema: answers }),
    ...(devices && { devices }),
    reads: areasRead(skill, source),
  };
}

/**
 * Returns the schema in which a param with a default is optional, as callers may take it: a value is
 * filled in before the check.
 */
function withoutDefaultsRequired(
  schema: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { required, properties = {} } = schema as {
    readonly required?: readonly string[];
    readonly properties?: Readonly<Record<string, { readonly default?: unknown }>>;
  };
  const needed = required?.filter((name) => properties[name]?.default === undefined);
  if (needed === undefined || needed.length === required!.length) {
    return schema;
  }
  const { required: _all, ...rest } = schema;
  return needed.length === 0 ? rest : { ...rest, required: needed };
}

const guideOf = ({ key, name, description, tools, body }: PromptSkill, source: string): Guide => ({
  key,
  name,
  description,
  tools,
  body,
  source,
});
