import type { CallOrigin, GateContract, GatedPersona } from 'svc/contracts/gate';
import type { ModelTool } from 'svc/contracts/model';
import type { SkillRegistry, Tool } from 'svc/contracts/skill';
import type { Principal } from 'svc/sdk';

import type { RunState } from '../journal/journal.ts';

/** Tools that a persona may use in one run, as its model gets them. */
export interface Offer {
  readonly tools: readonly ModelTool[];
  /** Named without parameters; `tool_search` brings them. */
  readonly deferred: readonly { readonly name: string; readonly line: string }[];
  /** Tools by the name that the model uses. */
  readonly byName: ReadonlyMap<string, Tool>;
}

export interface Bearer {
  readonly principal: Principal;
  readonly persona: GatedPersona;
  readonly origin: CallOrigin;
}

const searchKey = 'tool_search';
/**
 * Max size of schemas of the specialty tier: beyond it they are looked up first, however few tools
 * there are.
 */
const maxCharacters = 64_000;

/** Chooses tools for a prompt: what the gate would refuse is not in it. */
export class Toolbag {
  readonly #registry: SkillRegistry;
  readonly #gate: GateContract;
  readonly #threshold: () => number;

  constructor(registry: SkillRegistry, gate: GateContract, threshold: () => number) {
    this.#registry = registry;
    this.#gate = gate;
    this.#threshold = threshold;
  }

  async offer(bearer: Bearer, state: RunState): Promise<Offer> {
    const skills = await this.#registry.shownTo(bearer.principal);
    const entries = [...skills.aliases()].filter(
      ([, tool]) => this.#gate.decide({ ...bearer, tool }).verdict !== 'refused',
    );
    const byName = new Map(entries);
    const expanded = lookedUp(state);
    const defers =
      byName.has(searchKey) && (entries.length > this.#threshold() || isHeavy(entries));
    const isWhole = ([, { key, tier }]: readonly [string, Tool]): boolean =>
      !defers || tier === 'core' || key === searchKey;
    const deferred = entries.filter((entry) => !isWhole(entry));
    const added = [...expanded].flatMap((asked) =>
      deferred.filter(([name, { key }]) => name === asked || key === asked),
    );
    // What is looked up comes last, and its line stays: all before it can be served from a cache.
    return {
      byName,
      tools: [...new Map([...entries.filter(isWhole), ...added])].map(([name, tool]) => ({
        name,
        description: tool.description,
        schema: schemaOf(tool),
      })),
      deferred: deferred.map(([name, tool]) => ({ name, line: firstLine(tool.description) })),
    };
  }
}

/** A few tools of one server may say more of themselves than all others together. */
function isHeavy(entries: readonly (readonly [string, Tool])[]): boolean {
  let left = maxCharacters;
  return entries.some(
    ([, { tier, schema }]) => tier === 'specialty' && (left -= charactersOf(schema)) < 0,
  );
}

const known = new WeakMap<object, number>();

function charactersOf(schema: Tool['schema']): number {
  const characters = known.get(schema) ?? JSON.stringify(schema).length;
  known.set(schema, characters);
  return characters;
}

/** Returns the schema of a tool; one of edges also takes the device. */
function schemaOf({ schema, scope }: Tool): Readonly<Record<string, unknown>> {
  if (scope === 'manager') {
    return schema;
  }
  const { properties = {}, required = [] } = schema as {
    properties?: object;
    required?: readonly string[];
  };
  const device = {
    type: 'integer',
    minimum: 1,
    description: 'id of the device to run the tool on',
  };
  return {
    ...schema,
    type: 'object',
    properties: { ...properties, device_id: device },
    required: [...required, 'device_id'],
  };
}

/** Keys that the run has asked for with `tool_search {select}`. */
function lookedUp(state: RunState): ReadonlySet<string> {
  const searches = state.turns
    .flatMap(({ calls }) => calls)
    .filter(({ tool, outcome }) => tool === searchKey && outcome?.status === 'ok');
  return new Set(
    searches.flatMap(({ args }) =>
      Array.isArray(args?.['select']) ? args['select'].map(String) : [],
    ),
  );
}

const firstLine = (text: string): string => text.split(/(?<=\.)\s|\n/, 1)[0]!.slice(0, 160);
