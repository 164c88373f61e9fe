import { defineExtensionPoint, type SkillClass } from 'svc/sdk';

export interface SkillCall {
  /** Aborted when the time is over or the caller has taken the call back. */
  readonly signal: AbortSignal;
  /** Of the whole call. */
  readonly timeoutMs: number;
  /** Whether most of the time is gone: who can answer in part does so now. */
  hurry(): boolean;
}

/** How to ask for what an answer had no room for. */
export interface ReadOn {
  readonly hint: string;
  /** To be put into the params of the next call. */
  readonly params: Readonly<Record<string, unknown>>;
}

export interface SkillOutput {
  /** Plain JSON. */
  readonly result: unknown;
  /** There was more. */
  readonly readOn?: ReadOn | undefined;
}

/** Something that can be looked up or done on this machine; contributed under its key. */
export interface EdgeSkill {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly class: SkillClass;
  readonly tier: 'core' | 'specialty';
  /** JSON Schema of an object; defaults are filled in before `run`. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** The longest it may take, whatever is asked; default 30 s. */
  readonly mostMs?: number;
  /** An SvcError is told as it is; `forbidden` is for what the owner of this machine does not allow. */
  run(params: never, call: SkillCall): Promise<SkillOutput>;
}

export const EdgeSkills = defineExtensionPoint<EdgeSkill>('skills.local');

/** A skill as the method `skill_list` tells it, which answers `{skills: ToldSkill[]}`. */
export interface ToldSkill extends Pick<EdgeSkill, 'key' | 'name' | 'description' | 'class' | 'tier' | 'schema'> {
  readonly scope: 'edge';
}

/** Params of `skill_execute`, for skills that are safe, and of `skill_change`, which is mutating and for all others. */
export interface SkillOrder {
  readonly key: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly timeout_ms: number;
  /** Stands in the log of this machine and in the trail of the manager. */
  readonly audit_id: string;
}

/** Answer of both. What was asked wrongly, or is not allowed, is thrown instead. */
export interface SkillAnswer {
  readonly status: 'ok' | 'error' | 'timeout';
  readonly result: unknown;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly duration_ms: number;
  readonly execution_id: string;
  readonly truncated: boolean;
  readonly read_on: ReadOn | null;
}
