import type { PluginManifest } from '../sdk/index.ts';
import type { OwnedScope } from './scope.ts';

/** One loaded incarnation of a plugin: number 1 at boot, the next one after every reload. */
export class Generation {
  readonly pluginId: string;
  readonly number: number;
  readonly manifest: PluginManifest;
  readonly scope: OwnedScope;
  /** Streams, sockets and other long uses that outlive the snapshot they began in. */
  holds = 0;
  /** Set by the commit that made it visible; facts may be emitted from then on. */
  committed = false;

  constructor(manifest: PluginManifest, number: number, scope: OwnedScope) {
    this.pluginId = manifest.id;
    this.number = number;
    this.manifest = manifest;
    this.scope = scope;
  }

  get label(): string {
    return `${this.pluginId}#${this.number}`;
  }
}
