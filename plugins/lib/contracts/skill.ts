import type { DeviceScope } from 'svc/query';
import { defineExtensionPoint, defineService, type Principal, type SkillClass } from 'svc/sdk';

import type { CallOrigin, GateAnswer, GatedPersona } from './gate.ts';

/** A tool that can be called: of this process, of edges, of a pack or of a server that speaks MCP. */
export interface Tool {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly scope: 'manager' | 'edge';
  readonly class: SkillClass;
  readonly tier: 'core' | 'specialty';
  /** JSON Schema of an object. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly result_schema?: Readonly<Record<string, unknown>>;
  /** Plugin id, `edge`, `pack:<id>` or `mcp:<server>`. */
  readonly source: string;
  /** What it answers was written by a system or person outside: logs, labels, documents, pages. */
  readonly trust: 'trusted' | 'untrusted';
  /** What it answers to who may see some devices alone: of no device, or of theirs. Absent: they are refused. */
  readonly devices?: 'none' | 'narrowed';
}

/** A folder with a `SKILL.md`: the header is always shown, the body when it is chosen. */
export interface Guide {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly tools: readonly string[];
  readonly body: string;
  readonly source: string;
}

export interface SkillList {
  /** In the order of their keys; the same list until anything changes. */
  tools(): readonly Tool[];
  guides(): readonly Guide[];
  tool(key: string): Tool | undefined;
  /** By the names that models and MCP clients use: letters, digits, `_` and `-`, at most 64 of them. */
  aliases(): ReadonlyMap<string, Tool>;
}

/** All skills there are. */
export interface SkillRegistry extends SkillList {
  /** Those that there are for who asks: what edges of others alone offer is not among them. */
  shownTo(asker: Pick<Principal, 'selectors'>): Promise<SkillList>;
}

export interface ToolCall {
  readonly principal: Principal;
  readonly key: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Of an edge skill: one of the two. */
  readonly device_id?: number | undefined;
  readonly edge_id?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly origin: CallOrigin;
  readonly persona?: GatedPersona | undefined;
  readonly tainted?: boolean;
  /** Of the approval under which it runs; without one, a call that needs an approval is refused with reason `skill.approval_needed`. */
  readonly approval?: string | undefined;
  /** An edge or a tool that knows the key does not make the change again; default: none for reads, the execution id else. */
  readonly idempotencyKey?: string | undefined;
}

/** A large or outside result as it is kept; `evidence_read` reads on in it. */
export interface Evidence {
  /** `E` and a number that grows. */
  readonly id: string;
  readonly tool: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly truncated: boolean;
  readonly trust: 'trusted' | 'untrusted';
}

export interface ToolOutcome {
  readonly execution_id: string;
  readonly status: 'ok' | 'error' | 'timeout';
  /** What people and models are given: whole when it is small, else its beginning and end, and how to read on; secrets redacted. */
  readonly result: unknown;
  readonly error: string | undefined;
  readonly duration_ms: number;
  readonly trust: 'trusted' | 'untrusted';
  readonly evidence: Evidence | undefined;
}

/** What a call would come to: who asks for an approval shows this. */
export interface CallPlan {
  readonly tool: Tool;
  /** As they would be run, with the defaults of the tool filled in: what people sign. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly answer: GateAnswer;
  readonly target: {
    readonly kind: 'manager' | 'device';
    readonly id: number | undefined;
    readonly name: string;
  };
  /** What will run, and where, in the words in which it will run. */
  readonly rendered: string;
}

/** One call of one tool: found, validated, gated, run with a deadline, audited, redacted, kept. */
export interface SkillRunner {
  /**
   * All that comes before a run, and nothing of it: throws `not_found`, `forbidden` where the tool may not be used at all, and then
   * `invalid_argument`; a refusal of the gate for its arguments is its answer.
   */
  plan(call: ToolCall): Promise<CallPlan>;
  /** Refusals and bad arguments are thrown (`forbidden`, `not_found`, `invalid_argument`); what the tool itself did wrong is the outcome. */
  run(call: ToolCall): Promise<ToolOutcome>;
}

/** Calls of people and of programs in their name: run at once, or opened as an approval and run by this room once it is signed. */
export interface SkillExecutor {
  execute(call: ToolCall): Promise<ToolOutcome | { readonly approval_id: string }>;
}

/** Where tools come from that are not in the host's own table: edges, packs, servers that speak MCP. */
export interface ToolSource {
  /** From memory; the same list until `onChange` is told. */
  list(): readonly Tool[];
  /** For who sees these devices alone, where that is less. */
  listFor?(seen: DeviceScope): readonly Tool[];
  onChange(listener: () => void): () => void;
  run(
    key: string,
    params: Readonly<Record<string, unknown>>,
    call: {
      readonly principal: Principal;
      readonly device_id: number | undefined;
      readonly edge_id: number | undefined;
      readonly timeoutMs: number;
      readonly signal: AbortSignal;
      readonly idempotencyKey: string | undefined;
      /** Under which it runs, where its class takes one. */
      readonly approval: string | undefined;
      readonly class: SkillClass;
    },
  ): Promise<unknown>;
}

export const Skills = defineService<SkillRegistry>('skill.registry');
export const SkillRunner = defineService<SkillRunner>('skill.run');
export const SkillExecutor = defineService<SkillExecutor>('skill.execute');
export const ToolSources = defineExtensionPoint<ToolSource>('skill.sources');
