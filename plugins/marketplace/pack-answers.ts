import { type Call, type Principal, SvcError } from 'svc/sdk';
import { type Static, Type } from 'typebox';

import type { Outcome } from './install/installer.ts';
import type { Installed } from './install/lock.ts';
import type { PackService } from './install/pack-service.ts';
import { type InstallAnswer, type InstalledDetail, type InstalledShape, PackId } from './shapes.ts';
import { problemsOf, shownDetail, shownDifference, shownPack, type Standing } from './shown.ts';

export const PackParams = Type.Object({ pack_id: PackId });
/** Time that a pack has to be fetched, read and switched in. */
export const installMs = 300_000;

/** Packs and what became of them, as their routes answer it. */
export class PackAnswers {
  readonly #packService: PackService;

  constructor(packService: PackService) {
    this.#packService = packService;
  }

  pack(pack: Installed, principal: Principal): Static<typeof InstalledShape> {
    return shownPack(pack, this.#standingOf(pack, principal));
  }

  detail(pack: Installed, principal: Principal): Static<typeof InstalledDetail> {
    return shownDetail(pack, this.#standingOf(pack, principal));
  }

  /** Notes what was weighed, also where it was not installed; throws what has to be confirmed. */
  outcome(
    { note, principal }: Pick<Call, 'note' | 'principal'>,
    outcome: Outcome,
  ): Static<typeof InstallAnswer> {
    const { preview } = outcome;
    const { id, version, verdict, content_hash: hash, rights } = preview.lock;
    note({
      resourceType: 'pack',
      resourceId: id,
      after: { version, verdict, content_hash: hash, rights },
    });
    if (outcome.pack === undefined) {
      throw new SvcError('conflict', outcome.message, {
        reason: 'marketplace.confirm',
        details: problemsOf(preview),
      });
    }
    return {
      ...this.pack(outcome.pack, principal),
      warnings: [...preview.warnings],
      difference: shownDifference(preview.difference),
    };
  }

  /** Returns the state of a pack; local paths are only for those with all permissions. */
  #standingOf({ packId }: Installed, { grants }: Principal): Standing {
    return {
      status: this.#packService.statusOf(packId),
      trouble: this.#packService.troubleOf(packId),
      isForAdministrators: grants.includes('*'),
    };
  }
}
