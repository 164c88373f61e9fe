import type { ReadOn } from 'svc/edge-protocol';
import { defineExtensionPoint, type SkillClass } from 'svc/sdk';

export interface SkillCall {
  /** Aborted when the time is over or the caller has taken the call back. */
  readonly signal: AbortSignal;
  /** Time limit of the whole call. */
  readonly timeoutMs: number;
  /**
   * Returns whether most of the time is gone: a skill that can return a partial answer does so now.
   */
  hurry(): boolean;
}

export interface SkillOutput {
  /** Plain JSON. */
  readonly result: unknown;
  /** There was more. */
  readonly readOn?: ReadOn | undefined;
}

/** Skill of this machine, to look something up or act; contributed under its key. */
export interface EdgeSkill {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly class: SkillClass;
  readonly tier: 'core' | 'specialty';
  /** JSON Schema of an object; defaults are filled in before `run`. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** The longest it may take, whatever is asked; default 30 s. */
  readonly maxMs?: number;
  /** An SvcError is passed on as it is; `forbidden` is for what the owner of this machine does not allow. */
  run(params: never, call: SkillCall): Promise<SkillOutput>;
}

export const EdgeSkills = defineExtensionPoint<EdgeSkill>('skills.local', undefined, {
  methods: ['run'],
});
