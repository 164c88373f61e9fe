export type PermissionMode = 'read-only' | 'mutating-with-confirm' | 'dual-sign-required';

/** An agent as its markdown file describes it; the body is the system prompt, byte for byte. */
export interface Persona {
  readonly name: string;
  readonly description: string;
  readonly when_to_use: string;
  readonly tools: readonly string[];
  readonly disallowed_tools: readonly string[];
  readonly permission_mode: PermissionMode;
  readonly max_turns: number;
  readonly model: string;
  readonly critical_reminder: string;
  readonly initial_prompt: string;
  readonly background: boolean;
  readonly omit_agent_md: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Header keys this version does not know, kept so that later keys never break loading. */
  readonly unknown: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly source: 'builtin' | 'disk' | 'user';
  /** Id of the pack whose folder carries it. */
  readonly pack?: string;
}
