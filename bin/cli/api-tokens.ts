import { whoAsks } from './accounts.ts';
import { Failure } from './failure.ts';
import type { HouseClient } from './house-client.ts';

/** An API token as `GET /api/v1/tokens` lists it, without the token itself. */
export interface ApiToken {
  readonly id: number;
  readonly name: string;
  readonly actions: readonly string[];
  readonly expires_at: string;
  readonly last_used_at: string | null;
}

/** An API token acts for somebody, and the operator of a data folder is nobody. */
export async function assertPerson(house: HouseClient): Promise<void> {
  if ((await whoAsks(house)).kind === 'operator') {
    throw new Failure(
      4,
      'forbidden',
      'an API token acts for a person, and the operator of the data folder is none: first sign in with "svc login", and leave --data out',
    );
  }
}

/** Reading is in every token, whatever else it may do. */
export const actionsOf = ({ actions }: ApiToken): string => (actions.length === 0 ? 'read' : actions.join(','));
