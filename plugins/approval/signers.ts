import type { DirectoryContract, Person } from 'svc/contracts/iam';
import { covers, type Principal, type Settings, type SvcError } from 'svc/sdk';

import { errors } from './errors.ts';
import type { RequestRow } from './tables.ts';

export interface SignerParts {
  readonly directory: Pick<DirectoryContract, 'live'>;
  readonly settings: Pick<Settings, 'get'>;
}

const refused = (why: string): SvcError => errors.may_not_sign({ why });

/**
 * Check of who may decide: signed-in people as their accounts are now; never a token, a plugin or a
 * model.
 */
export class Signers {
  readonly #parts: SignerParts;

  constructor(parts: SignerParts) {
    this.#parts = parts;
  }

  /** The person, or why they may not sign this. */
  demand(principal: Principal, row: RequestRow): Person {
    if (principal.kind !== 'user') {
      throw refused(
        'approvals are signed by signed-in users; API tokens, plugins and the operator of the data folder cannot sign',
      );
    }
    const person = this.#parts.directory.live(Number(principal.id));
    if (person?.status !== 'active') {
      throw refused('this account is not active');
    }
    const objection = this.objection(person, row);
    if (objection !== undefined) {
      throw refused(objection);
    }
    return person;
  }

  /** Why a signature of this person does not count now. */
  objection(person: Person, row: RequestRow): string | undefined {
    const asked = isRequester(person.id, row);
    const holds = person.grants.some((grant) => covers(grant, 'approval:sign'));
    const isDangerous = row.signatures > 1;
    if (asked && !this.#parts.settings.get<boolean>('approval.requester_signs')) {
      return isDangerous
        ? 'the requester of a dangerous change cannot sign it here; two others must'
        : 'the requester of a change cannot sign it here; someone else with approval:sign must';
    }
    if (!isDangerous) {
      return holds || asked
        ? undefined
        : `signing this needs approval:sign, which the role ${person.role} does not hold, or must be done by its requester`;
    }
    return holds
      ? undefined
      : `signing a dangerous change needs approval:sign, which the role ${person.role} does not hold`;
  }
}

/**
 * Returns whether a principal may read what a change would do: its requester, its possible signers,
 * administrators and those who review others' approvals.
 */
export const mayRead = ({ id, kind, grants }: Principal, row: RequestRow): boolean =>
  grants.some((grant) => covers(grant, 'approval:sign') || covers(grant, 'approval:read')) ||
  ((kind === 'user' || kind === 'token') && isRequester(Number(id), row));

/** A person and their API tokens are the same requester. */
export const isRequester = (
  userId: number,
  { requester_kind: kind, requester_id: id }: RequestRow,
): boolean => (kind === 'user' || kind === 'token') && id === String(userId);
