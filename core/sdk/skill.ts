import type { Static, TSchema } from 'typebox';

import type { Principal } from './principal.ts';

export type SkillClass = 'safe' | 'mutating' | 'dangerous';

export interface SkillRun {
  readonly principal: Principal;
  readonly signal: AbortSignal;
}

/** A tool that people and agents can call. */
export interface ToolSkill<S extends TSchema = TSchema> extends Pick<
  PromptSkill,
  'key' | 'name' | 'description'
> {
  readonly kind: 'tool';
  readonly scope: 'manager' | 'edge';
  readonly class: SkillClass;
  readonly tier: 'core' | 'specialty';
  /**
   * Content for users with access to some devices, as for a route: about no device (`none`), or
   * about theirs (`narrowed`). Default: they are refused.
   */
  readonly devices?: 'none' | 'narrowed';
  /** Areas (plugins) that an API token must be allowed to read; default: the own one. */
  readonly reads?: 'none' | readonly string[];
  readonly params: S;
  readonly result?: TSchema;
  readonly run: (params: Static<S>, context: SkillRun) => Promise<unknown>;
}

/** A folder with a `SKILL.md`: it teaches, and names the tools it needs. */
export interface PromptSkill {
  readonly kind: 'prompt';
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly tools: readonly string[];
  /** Header keys beyond the known ones, kept as they came. */
  readonly extra: Readonly<Record<string, unknown>>;
  /** Markdown, byte for byte as in the file. */
  readonly body: string;
}

export type Skill = ToolSkill | PromptSkill;

export const toolSkill = <S extends TSchema>(skill: Omit<ToolSkill<S>, 'kind'>): ToolSkill =>
  Object.freeze({ ...skill, kind: 'tool' as const }) as unknown as ToolSkill;

/** Returns the areas that an API token must be allowed to read to use a tool of the plugin `area`. */
export const areasRead = ({ reads }: Pick<ToolSkill, 'reads'>, area: string): readonly string[] =>
  reads === 'none' ? [] : (reads ?? [area]);
