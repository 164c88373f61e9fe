import type { CeilingSource } from 'svc/contracts/gate';
import type { ServerSource } from 'svc/contracts/mcp';
import type { PersonaRestraint } from 'svc/contracts/persona';

import { errors } from './errors.ts';
import type { Installed } from './lock.ts';

/**
 * Installed packs, as the gate, the personas and the MCP servers query them: from memory, at every
 * call.
 */
export class InstalledPacks implements CeilingSource, PersonaRestraint, ServerSource {
  readonly #packs = new Map<string, Installed>();
  readonly #listeners = new Set<() => void>();
  #edition = 0;

  put(pack: Installed): void {
    this.#packs.set(pack.packId, pack);
    this.#changed();
  }

  forget(packId: string): void {
    this.#packs.delete(packId);
    this.#changed();
  }

  list(): readonly Installed[] {
    return [...this.#packs.values()].toSorted((a, b) => (a.packId < b.packId ? -1 : 1));
  }

  find(packId: string): Installed | undefined {
    return this.#packs.get(packId);
  }

  existing(packId: string): Installed {
    const pack = this.#packs.get(packId);
    if (pack === undefined) {
      throw errors.not_installed({ packId });
    }
    return pack;
  }

  ceilings({
    persona,
    source,
  }: Parameters<CeilingSource['ceilings']>[0]): ReturnType<CeilingSource['ceilings']> {
    const ofTool = source.startsWith('pack:') ? this.find(source.slice('pack:'.length)) : undefined;
    const ofPersona = persona === undefined ? undefined : this.#bringing(persona);
    const packs = new Set([ofTool, ofPersona].filter((pack) => pack !== undefined));
    return [...packs].map(({ packId, ceiling }) => ({ pack: packId, ceiling }));
  }

  restraint(name: string): { readonly unmet: string | undefined } | undefined {
    const pack = this.#bringing(name);
    if (pack === undefined) {
      return undefined;
    }
    const isIn = pack.admitted.personas.includes(name);
    return {
      unmet: isIn
        ? undefined
        : `comes with the pack ${pack.packId}, which an administrator has not admitted yet`,
    };
  }

  edition(): number {
    return this.#edition;
  }

  servers(): ReturnType<ServerSource['servers']> {
    return this.list().flatMap(({ lock, admitted }) =>
      lock.servers.map(({ name, url }) => ({
        name,
        url,
        enabled: admitted.servers.includes(name),
      })),
    );
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #bringing(persona: string): Installed | undefined {
    return this.list().find(({ lock }) => lock.personas.includes(persona));
  }

  #changed(): void {
    this.#edition += 1;
    this.#listeners.forEach((listener) => listener());
  }
}
