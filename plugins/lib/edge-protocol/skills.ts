import { type Static, Type } from 'typebox';

import { orNull, text } from './fields.ts';

/** A skill as an edge offers it. */
export const OfferedSkill = Type.Object({
  key: Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$', examples: ['file_tail'] }),
  name: text(200),
  description: text(2_000),
  class: Type.Enum(['safe', 'mutating', 'dangerous']),
  scope: Type.Literal('edge'),
  tier: Type.Enum(['core', 'specialty']),
  /** JSON Schema of its params. */
  schema: Type.Record(Type.String(), Type.Unknown()),
});
export type OfferedSkill = Readonly<Static<typeof OfferedSkill>>;

/** Answer of the method `skill_list`, which has no params. */
export const SkillList = Type.Object({ skills: Type.Array(OfferedSkill, { maxItems: 200 }) });
export type SkillList = Static<typeof SkillList>;

/**
 * Params of `skill_execute`, for safe skills, and of `skill_change`, which is mutating and for all
 * others.
 */
export interface SkillOrder {
  readonly key: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly timeout_ms: number;
  /** Stands in the log of the machine and in the trail of the manager. */
  readonly audit_id: string;
}

/** Instructions for requesting what did not fit into an answer. */
export const ReadOn = Type.Object({
  hint: text(1_000),
  /** Params to merge into the next call. */
  params: Type.Record(Type.String(), Type.Unknown()),
});
export type ReadOn = Readonly<Static<typeof ReadOn>>;

/** Answer of both. What was asked wrongly, or is not allowed, is thrown instead. */
export const SkillAnswer = Type.Object({
  status: Type.Enum(['ok', 'error', 'timeout']),
  result: Type.Unknown(),
  error: orNull(Type.Object({ code: text(64), message: text(4_000) })),
  duration_ms: Type.Number({ minimum: 0 }),
  execution_id: text(64),
  truncated: Type.Boolean(),
  read_on: orNull(ReadOn),
});
export type SkillAnswer = Readonly<Static<typeof SkillAnswer>>;
