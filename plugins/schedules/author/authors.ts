import type { DirectoryContract } from 'svc/contracts/iam';
import { covers, type Principal } from 'svc/sdk';

import type { ScheduleRow } from '../store/tables.ts';

/** Permission that an author must hold, when they create a schedule and at each of its runs. */
export const manage = 'schedule:manage';

/** An author as of now, or why nothing may run under their name. */
export type Author =
  | { readonly principal: Principal; readonly objection?: undefined }
  | { readonly principal?: undefined; readonly objection: string };

const rightsOf = { channel: 'channel:test', document: 'knowledge:create' } as const;

/** People whose schedules run, with the permissions that they have at that moment. */
export class Authors {
  readonly #people: Pick<DirectoryContract, 'live' | 'nameOf'>;

  constructor(people: Pick<DirectoryContract, 'live' | 'nameOf'>) {
    this.#people = people;
  }

  now({ owner, deliver_to: place }: Pick<ScheduleRow, 'owner' | 'deliver_to'>): Author {
    const person = this.#people.live(owner);
    if (person === undefined) {
      return { objection: 'the account of its author is disabled or deleted' };
    }
    const { id, email, display_name: name, role, grants, orgs, selectors } = person;
    const needed = place === 'timeline' ? [manage] : [manage, rightsOf[place]];
    const missing = needed.find((right) => !grants.some((grant) => covers(grant, right)));
    if (missing !== undefined) {
      return { objection: `its author no longer has the permission ${missing}` };
    }
    if (selectors !== undefined && place !== 'timeline') {
      return {
        objection: `its author sees only some devices and is not allowed to deliver to a ${place}`,
      };
    }
    return {
      principal: {
        kind: 'user',
        id: String(id),
        email,
        name,
        role,
        grants,
        ...(orgs !== undefined && { orgs }),
        ...(selectors !== undefined && { selectors }),
      },
    };
  }

  async nameOf(owner: number): Promise<string> {
    return (await this.#people.nameOf(owner))?.email ?? `user ${owner}`;
  }
}
