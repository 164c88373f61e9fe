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
  /**
   * Trust in its answer: `untrusted` if a system or person outside wrote it, as in logs, labels,
   * documents, pages.
   */
  readonly trust: 'trusted' | 'untrusted';
  /**
   * Answer to users with access to some devices: about no device, or about theirs. Absent: they are
   * refused.
   */
  readonly devices?: 'none' | 'narrowed';
  /** Areas that an API token must be allowed to read; absent: none. */
  readonly reads?: readonly string[];
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
  /** Returns tools sorted by key; the same list until anything changes. */
  tools(): readonly Tool[];
  guides(): readonly Guide[];
  tool(key: string): Tool | undefined;
  /**
   * Returns tools by the names that models and MCP clients use: letters, digits, `_` and `-`, at
   * most 64 of them.
   */
  aliases(): ReadonlyMap<string, Tool>;
}

/** All skills there are. */
export interface SkillRegistry extends SkillList {
  /** Returns the skills available to the asker, without those that only edges of others offer. */
  shownTo(asker: Pick<Principal, 'selectors'>): Promise<SkillList>;
}

export interface ToolCall {
  readonly principal: Principal;
  readonly key: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Device of an edge skill; one of the two is given. */
  readonly device_id?: number | undefined;
  readonly edge_id?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly origin: CallOrigin;
  readonly persona?: GatedPersona | undefined;
  readonly tainted?: boolean;
  /**
   * Approval under which it runs; without one, a call that needs an approval is refused with reason
   * `skill.approval_needed`.
   */
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
  /**
   * Result for people and models: complete if small, otherwise its beginning and end with how to
   * read on; secrets redacted.
   */
  readonly result: unknown;
  readonly error: string | undefined;
  readonly duration_ms: number;
  readonly trust: 'trusted' | 'untrusted';
  readonly evidence: Evidence | undefined;
}

/** Plan of a call, shown to whoever decides on an approval. */
export interface CallPlan {
  readonly tool: Tool;
  /** Params as they would run, with the tool's defaults filled in: what people sign. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly answer: GateAnswer;
  readonly target: {
    readonly kind: 'manager' | 'device';
    readonly id: number | undefined;
    readonly name: string;
  };
  /** Exact text of what will run, and where. */
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

/**
 * Executor of calls by people, and by programs on their behalf: runs them immediately, or opens an
 * approval and runs them once it is signed.
 */
export interface SkillExecutor {
  execute(call: ToolCall): Promise<ToolOutcome | { readonly approval_id: string }>;
}

/** Source of tools that are not in the host's own table: edges, packs, MCP servers. */
export interface ToolSource {
  /** Returns tools from memory; the same list until `onChange` is called. */
  list(): readonly Tool[];
  /** Returns the tools for users with access to these devices only, if that is fewer. */
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
      /** Approval under which it runs, if its class requires one. */
      readonly approval: string | undefined;
      readonly class: SkillClass;
    },
  ): Promise<unknown>;
}

export const Skills = defineService<SkillRegistry>('skill.registry');
export const SkillRunner = defineService<SkillRunner>('skill.run');
export const SkillExecutor = defineService<SkillExecutor>('skill.execute');
export const ToolSources = defineExtensionPoint<ToolSource>('skill.sources', undefined, {
  methods: ['list', 'onChange', 'run'],
});
