import type { AskedRights, PackRights } from 'svc/contracts/packs';
import type { Handle, Principal, Settings } from 'svc/sdk';

import type { NormalizedPack } from '../normalize/normalize-pack.ts';
import { errors } from './errors.ts';
import type { Preview } from './preview.ts';
import type { Quarantine } from './quarantine.ts';

/** Statement of the requester about an install. */
export interface Word {
  readonly by: Principal;
  readonly confirm?: string | undefined;
  /** Reason, for packs that fail the scan. */
  readonly reason?: string | undefined;
  /** Pack that may be replaced without people at hand; nothing else may. */
  readonly onlyOf?: string;
}

export interface ConsentParts {
  readonly rights: Handle<PackRights>;
  readonly settings: Pick<Settings, 'get'>;
  readonly quarantine: Quarantine;
}

const shortestReason = 10;

/** Rules about what has to be confirmed before a pack is installed, and what nobody can confirm. */
export class Consent {
  readonly #parts: ConsentParts;

  constructor(parts: ConsentParts) {
    this.#parts = parts;
  }

  rightsOf({ manifest, id }: Pick<NormalizedPack, 'manifest' | 'id'>): AskedRights {
    const { rights } = this.#parts;
    if (rights.available) {
      return rights.get().asked(manifest);
    }
    const asks = ['entry', 'routes', 'mounts', 'settings', 'contributes', 'actions'].find(
      (field) => manifest[field] !== undefined,
    );
    if (asks !== undefined) {
      throw errors.no_rights({ id, asks });
    }
    return { sentences: [], hash: '', refused: undefined };
  }

  /** Returns what still has to be confirmed before it is installed; throws if nobody can. */
  objection(
    { lock, needs, confirm, isThere, refused }: Preview,
    { by, confirm: said, reason = '' }: Word,
  ): string | undefined {
    const { settings, quarantine } = this.#parts;
    const rights = this.rightsOf(lock);
    if (refused !== undefined) {
      throw errors.refused_rights({ id: lock.id, refused });
    }
    quarantine.refuse(lock);
    if (lock.verdict === 'block' && !settings.get<boolean>('marketplace.allow_blocked')) {
      const { file, line, message } = lock.findings[0]!;
      throw errors.scan_blocks(
        { id: lock.id, file, detail: line > 0 ? ` line ${line}` : '', message },
        {
          details: lock.findings
            .slice(0, 20)
            .map((one) => ({ path: `/${one.file}`, message: `${one.severity}: ${one.message}` })),
        },
      );
    }
    if (isThere) {
      return undefined;
    }
    if (said !== confirm && (said !== undefined || needs.length > 0)) {
      const why = [
        ...(said === undefined ? [] : ['the content differs from what was confirmed']),
        ...needs,
      ];
      const reasoned =
        lock.verdict === 'pass' ? '' : `, and with "reason", in ${shortestReason} letters or more`;
      return `${lock.id} ${lock.version} is not installed yet: ${why.join('; ')}. Send the same again with "confirm"${reasoned} once you agree: ${confirm}`;
    }
    if ((rights.sentences.length > 0 || lock.verdict !== 'pass') && !by.grants.includes('*')) {
      throw errors.for_administrators({ id: lock.id });
    }
    return lock.verdict !== 'pass' && reason.trim().length < shortestReason
      ? `the scan says ${lock.verdict}: explain in "reason", in ${shortestReason} letters or more, why ${lock.id} is installed anyway`
      : undefined;
  }
}
