import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { Ceiling } from 'svc/contracts/gate';
import {
  type Logger,
  messageOf,
  type Page,
  type PageRequest,
  type PluginDirectory,
  type PluginStatus,
  type Principal,
  SvcError,
  type ThreadHandle,
} from 'svc/sdk';

import type { Uploaded } from '../archive/arrivals.ts';
import type { Registries } from '../registry/registries.ts';
import { rulesVersion } from '../scan/rules.ts';
import type { ScanReport } from '../scan/scan.ts';
import type { Word } from './consent.ts';
import { errors } from './errors.ts';
import type { InstalledPacks } from './installed-packs.ts';
import type { Installer, Outcome } from './installer.ts';
import type { Leftovers } from './leftovers.ts';
import type { Admitted, Installed } from './lock.ts';
import type { PackStore } from './pack-store.ts';
import { type PackWish, wantedAgain, wantedOf } from './pack-wish.ts';
import { connectsItself, type Preview } from './preview.ts';
import type { Quarantine } from './quarantine.ts';
import type { Fetched, Sources, Wanted } from './sources.ts';
import type { Switcher } from './switcher.ts';
import type { HistoryRow } from './tables.ts';

export interface PackServiceParts {
  readonly installed: InstalledPacks;
  readonly installer: Installer;
  readonly leftovers: Leftovers;
  readonly sources: Sources;
  readonly registries: Pick<Registries, 'refresh'>;
  readonly store: PackStore;
  readonly switcher: Switcher;
  readonly quarantine: Quarantine;
  readonly plugins: PluginDirectory;
  readonly normalizer: ThreadHandle;
  /** Data folders of plugins, by id. */
  readonly data: string;
  readonly log: Logger;
}

/** Everything that may be done with packs. */
export class PackService {
  readonly #parts: PackServiceParts;
  /** Why the folder of a linked pack is not what serves. */
  readonly #troubles = new Map<string, string>();

  constructor(parts: PackServiceParts) {
    this.#parts = parts;
  }

  list(): readonly Installed[] {
    return this.#parts.installed.list();
  }

  existing(packId: string): Installed {
    return this.#parts.installed.existing(packId);
  }

  statusOf(packId: string): PluginStatus | undefined {
    return this.#parts.switcher.statusOf(packId);
  }

  troubleOf(packId: string): string | undefined {
    const pack = this.#parts.installed.find(packId);
    const attempt = this.statusOf(packId)?.lastAttempt;
    return (
      (pack && this.#parts.quarantine.against(pack.lock)) ??
      this.#troubles.get(packId) ??
      (attempt?.ok === false
        ? `${attempt.cause?.replace(/\.$/, '')}; what was loaded before keeps running`
        : undefined)
    );
  }

  troubled(packId: string, trouble: string | undefined): void {
    if (trouble === undefined) {
      this.#troubles.delete(packId);
    } else {
      this.#troubles.set(packId, trouble);
    }
  }

  async preview(wanted: Wanted, signal: AbortSignal): Promise<Preview> {
    const { sources, installer } = this.#parts;
    return await this.#once(sources.bring(wanted, signal), (fetched) => installer.preview(fetched));
  }

  async install(wanted: Wanted, word: Word, signal: AbortSignal): Promise<Outcome> {
    const { sources, installer } = this.#parts;
    return await this.#once(sources.bring(wanted, signal), (fetched) =>
      installer.install(fetched, word),
    );
  }

  /** Installs the archive in the body of a request; `asked` reads the fields of a form around it. */
  async upload(
    body: AsyncIterable<Uint8Array>,
    contentType: string,
    asked: (fields: Uploaded['fields']) => { readonly path: string; readonly word: Word },
  ): Promise<Outcome> {
    const { sources, installer, normalizer } = this.#parts;
    const file = await sources.arrived(body);
    const whole = sources.uploaded({ file, from: 0, to: 0, sha256: '', fields: {} }, '');
    return await this.#once(Promise.resolve(whole), async () => {
      const uploaded = await normalizer.call<Uploaded>('arrive', { file, contentType });
      const { path, word } = asked(uploaded.fields);
      return await installer.install(sources.uploaded(uploaded, path), word);
    });
  }

  async update(
    packId: string,
    version: string | undefined,
    word: Word,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { sources, installer, registries } = this.#parts;
    const { lock, linked } = this.existing(packId);
    if (lock.origin.kind === 'registry') {
      // A registry that cannot be read now keeps its earlier offers.
      await registries.refresh(lock.origin.from);
    }
    return await this.#once(sources.bring(wantedAgain(lock.origin, version), signal), (fetched) =>
      installer.install(fetched, word, linked),
    );
  }

  /** Installs a local folder and follows it: what is saved there runs a moment later. */
  async link(folder: string, word: Word, signal: AbortSignal): Promise<Outcome> {
    const { sources, installer } = this.#parts;
    const fetched = await sources.bring({ folder }, signal);
    const outcome = await installer.install(fetched, word, fetched.origin.from);
    if (outcome.pack !== undefined) {
      this.#troubles.delete(outcome.pack.packId);
    }
    return outcome;
  }

  /**
   * Ensures a pack as a file declares it: its content by hash, which the author of the file has
   * confirmed, and its permissions.
   */
  async have(
    packId: string,
    wish: PackWish,
    by: Principal,
    signal: AbortSignal,
  ): Promise<Installed> {
    const { installed, sources } = this.#parts;
    if (installed.find(packId)?.lock.content_hash !== wish.contentHash) {
      await this.#once(sources.bring(wantedOf(wish), signal), (fetched) =>
        this.#installExactly(packId, wish, by, fetched),
      );
    }
    await this.setCeiling(packId, wish.ceiling);
    return await this.admit(packId, wish.admitted);
  }

  async #installExactly(
    packId: string,
    { contentHash, reason }: PackWish,
    by: Principal,
    fetched: Fetched,
  ): Promise<void> {
    const { installer } = this.#parts;
    const { lock, confirm } = await installer.preview(fetched);
    if (lock.id !== packId || lock.content_hash !== contentHash) {
      throw errors.other_content({
        id: lock.id,
        version: lock.version,
        content_hash: lock.content_hash,
      });
    }
    const { pack, ...outcome } = await installer.install(fetched, { by, confirm, reason });
    if (pack === undefined) {
      throw new SvcError(
        'conflict',
        'message' in outcome ? outcome.message : `${packId} was not installed`,
        { reason: 'marketplace.not_had' },
      );
    }
  }

  /** Works on what was fetched, and deletes it afterwards. */
  async #once<T>(coming: Promise<Fetched>, work: (fetched: Fetched) => Promise<T>): Promise<T> {
    const fetched = await coming;
    try {
      return await work(fetched);
    } finally {
      await this.#parts.sources.release(fetched);
    }
  }

  rollback(packId: string, by: Principal): Promise<Installed> {
    return this.#parts.installer.rollback(packId, by);
  }

  async enable(packId: string): Promise<Installed> {
    const pack = this.existing(packId);
    this.#parts.quarantine.refuse(pack.lock);
    await this.#parts.plugins.enable(packId);
    return pack;
  }

  async disable(packId: string): Promise<Installed> {
    const pack = this.existing(packId);
    await this.#parts.plugins.disable(packId);
    return pack;
  }

  async uninstall(packId: string, keepData: boolean, by: Principal): Promise<void> {
    await this.#parts.installer.uninstall(packId, keepData, by);
    this.#troubles.delete(packId);
  }

  setCeiling(packId: string, ceiling: Ceiling): Promise<Installed> {
    return this.#change(packId, ({ lock }) => {
      if (ceiling.hosts.length > 0 && connectsItself(lock.manifest)) {
        throw errors.network_unlimited({ packId });
      }
      return { ceiling };
    });
  }

  admit(packId: string, admitted: Admitted): Promise<Installed> {
    return this.#change(packId, ({ lock }) => {
      const strange = [
        ...admitted.personas.filter((name) => !lock.personas.includes(name)),
        ...admitted.servers.filter((name) => !lock.servers.some((server) => server.name === name)),
      ];
      if (strange.length > 0) {
        throw errors.not_of_pack({ packId, strange: strange.join(', ') });
      }
      return { admitted };
    });
  }

  history(packId: string | undefined, page: PageRequest): Promise<Page<HistoryRow>> {
    return this.#parts.store.history(packId, page);
  }

  purge(packId: string): Promise<void> {
    const { installed, installer, leftovers, store, data } = this.#parts;
    return installer.inTurn(async () => {
      if (installed.find(packId) !== undefined) {
        throw errors.still_installed({ packId });
      }
      await leftovers.cleaned(packId);
      if ((await store.purge(packId)) === 0) {
        throw errors.nothing_left({ packId });
      }
      // Of packs only: a plugin that ships with svc has no history here.
      const folder = join(data, packId);
      if (existsSync(folder) && this.statusOf(packId) === undefined) {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  }

  /** Disables packs that were installed before their hash was on the list. */
  async isolate(signal: AbortSignal): Promise<void> {
    const { plugins, quarantine, log } = this.#parts;
    for (const { packId, lock } of this.list()) {
      const cause = quarantine.against(lock);
      if (cause !== undefined && !signal.aborted && this.statusOf(packId)?.state !== 'disabled') {
        log.error(
          { event: 'marketplace.quarantined', pack: packId, cause },
          'hash of an installed pack is on the block list; pack disabled',
        );
        await plugins.disable(packId, { cascade: true });
      }
    }
  }

  /**
   * Rescans packs that were installed by older rules; one that would be blocked now is disabled.
   */
  async rescan(signal: AbortSignal): Promise<void> {
    const { normalizer, plugins, switcher, log } = this.#parts;
    for (const { packId, lock } of this.list().filter(
      ({ lock: { rules_version: of } }) => of !== rulesVersion,
    )) {
      if (signal.aborted) {
        return;
      }
      try {
        const { verdict, findings, hosts, scripts } = await normalizer.call<ScanReport>('look', {
          folder: switcher.folderOf(packId),
          lock: { manifest: lock.manifest, servers: lock.servers },
        });
        await this.#change(packId, (pack) => ({
          lock: { ...pack.lock, verdict, findings, hosts, scripts, rules_version: rulesVersion },
        }));
        if (verdict === 'block' && lock.verdict !== 'block') {
          log.error(
            { event: 'marketplace.rescan_blocks', pack: packId, finding: findings[0] },
            'installed pack is blocked by newer scan rules; pack disabled',
          );
          await plugins.disable(packId);
        }
      } catch (error) {
        log.error(
          { event: 'marketplace.rescan_failed', pack: packId, cause: messageOf(error) },
          'failed to rescan an installed pack',
        );
      }
    }
  }

  #change(packId: string, change: (pack: Installed) => Partial<Installed>): Promise<Installed> {
    const { installed, installer, store } = this.#parts;
    return installer.inTurn(async () => {
      const pack = installed.existing(packId);
      const changed = { ...pack, ...change(pack) };
      await store.save(changed);
      installed.put(changed);
      return changed;
    });
  }
}
