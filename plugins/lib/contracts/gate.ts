import {
  defineExtensionPoint,
  defineService,
  type PermissionMode,
  type Principal,
  type SkillClass,
} from 'svc/sdk';

/** Origin of a tool call; runs without a person present have a lower ceiling. */
export type CallOrigin = 'api' | 'chat' | 'background' | 'mcp' | 'im' | 'investigation';

/** A tool as policy sees it. */
export interface GatedTool {
  readonly key: string;
  readonly class: SkillClass;
  /** `mcp:<server>` and packs are classed dangerous unless an admin has said otherwise; who lists tools says so in `class`. */
  readonly source: string;
  /**
   * Answer to users with access to some devices: about no device, or about theirs. Absent: they are
   * refused.
   */
  readonly devices?: 'none' | 'narrowed';
  /** Areas that an API token must be allowed to read; absent: none. */
  readonly reads?: readonly string[];
}

/** The fields of a persona that policy reads. */
export interface GatedPersona {
  readonly name: string;
  readonly tools: readonly string[];
  readonly disallowed_tools: readonly string[];
  readonly permission_mode: PermissionMode;
  /** Persona on whose behalf it works: what that one may not use, this one may not use either. */
  readonly within?: GatedPersona;
}

export interface GateQuestion {
  readonly principal: Principal;
  readonly tool: GatedTool;
  readonly origin: CallOrigin;
  /** Absent when a person calls the tool by hand: then class and approval alone decide. */
  readonly persona?: GatedPersona | undefined;
  /** Text of an outside system is in the context of the run: changes need an approval even where one was given in advance. */
  readonly tainted?: boolean;
  /** Absent while a prompt is assembled: everything that needs the arguments is not asked then. */
  readonly args?: Readonly<Record<string, unknown>>;
  /** The device that the call is about, with its labels, where there is one. */
  readonly target?: {
    readonly device_id: number;
    readonly labels: Readonly<Record<string, string>>;
  };
}

/** Steps in the order of evaluation; the first one that refuses decides. */
export type GateStep =
  | 'account'
  | 'devices'
  | 'role'
  | 'reading'
  | 'allow'
  | 'deny'
  | 'mode'
  | 'ceiling'
  | 'pack'
  | 'writes_off'
  | 'arguments';

export type GateAnswer =
  | { readonly verdict: 'run' }
  | { readonly verdict: 'approval'; readonly signatures: 1 | 2 }
  | { readonly verdict: 'refused'; readonly step: GateStep; readonly message: string };

/** The most that one pack may do, whatever roles and personas allow; an empty list of tools, hosts or labels leaves those open. */
export interface Ceiling {
  readonly classes: readonly SkillClass[];
  readonly tools: readonly string[];
  /**
   * Hosts that addresses in arguments may name and that the pack's code may reach through svc,
   * including subdomains.
   */
  readonly hosts: readonly string[];
  /** `env=prod`: devices that carry one of these. */
  readonly labels: readonly string[];
}

/** Knows which packs a call is under: the pack of the persona, and the pack that brings the tool. */
export interface CeilingSource {
  ceilings(call: {
    readonly persona: string | undefined;
    readonly source: string;
  }): readonly { readonly pack: string; readonly ceiling: Ceiling }[];
}

export const Ceilings = defineExtensionPoint<CeilingSource>('gate.ceilings', undefined, {
  methods: ['ceilings'],
});

/** The one policy of tools: for chat, both kernels, direct execution, MCP, chat platforms and background runs; and of code that asks hosts. */
export interface GateContract {
  /** Pure over its question and the settings and accounts of this moment. */
  decide(question: GateQuestion): GateAnswer;
  /**
   * Decides, by the current ceilings, whether svc contacts this host for the code of a source such
   * as `pack:greeter`.
   */
  reach(source: string, host: string): GateAnswer;
}

export const Gate = defineService<GateContract>('gate.decide');
