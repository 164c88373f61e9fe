import type { ToolSkill } from './skill.ts';

/** `plugin.json`, after validation against `config/plugin.schema.json`; the schema says what each field means. */
export interface PluginManifest {
  readonly id: string;
  readonly version: string;
  readonly title: string;
  readonly description: string;
  readonly kind: 'area' | 'pack';
  readonly runs_on: readonly ('manager' | 'edge')[];
  /** Absent: a data-only plugin (personas, skills). */
  readonly entry?: string;
  readonly engines: { readonly host: string };
  /** Modules of node that are closed to other plugins. */
  readonly trusted: readonly string[];
  readonly requires: readonly ServiceNeed[];
  readonly optional: readonly ServiceNeed[];
  readonly provides: readonly ServiceOffer[];
  readonly mounts: readonly string[];
  readonly actions: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, SettingDeclaration>>;
  /**
   * Tables in which it seals secrets; sealing anywhere else is refused, so that a new master key
   * reaches every one.
   */
  readonly sealed: readonly SealedTable[];
  readonly contributes: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Routes of a pack with code: described here, answered over RPC. */
  readonly routes: readonly PackRoute[];
  /** Events that a pack with code receives, and below, the tools it runs. */
  readonly events: readonly string[];
  readonly skills: readonly PackSkill[];
  readonly permissions: {
    readonly read: readonly string[];
    readonly hosts: readonly string[];
    readonly network: boolean;
    readonly disk_mb: number;
  };
  readonly critical: boolean;
  /** Brought up before all others that could be. */
  readonly early: boolean;
  readonly limits: PluginLimits;
  readonly integrity?: Readonly<Record<string, string>>;
}

export interface ServiceNeed {
  readonly service: string;
  readonly range: string;
}

export interface ServiceOffer {
  readonly service: string;
  readonly version: string;
}

export interface PluginLimits {
  readonly activate_ms: number;
  readonly drain_ms: number;
  /** Packs with code only. */
  readonly heap_mb: number;
  readonly rss_mb: number;
  readonly call_ms: number;
}

export interface PackRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly access: string;
  readonly summary: string;
  readonly body?: object;
  readonly response?: object;
  /** Bytes that flow through, in and out. */
  readonly consumes?: readonly string[];
  readonly produces?: string;
  readonly max_body_mb?: number;
}

export interface PackSkill extends Pick<
  ToolSkill,
  'key' | 'name' | 'description' | 'class' | 'tier'
> {
  readonly params: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
}

export interface SettingDeclaration {
  readonly schema: object;
  readonly default?: unknown;
  readonly env?: string;
  readonly sensitive?: boolean;
  readonly description: string;
  /**
   * True if it is read once, at the start: only environment and file can set it, and a secret among
   * these is never revealed.
   */
  readonly at_start?: boolean;
  /** Visibility besides administrators; nobody by default, and never for a sensitive one. */
  readonly visible?: 'admin' | 'any';
  /** Another setting of the same declarer whose value this one must not repeat, whatever the case. */
  readonly differs_from?: string;
}

/** Columns of one table that hold sealed values. */
export interface SealedTable {
  readonly table: string;
  /** The unique column whose value is `row` of the places, or several joined by `|`, as their values are then. */
  readonly row: string;
  readonly columns: readonly string[];
}
