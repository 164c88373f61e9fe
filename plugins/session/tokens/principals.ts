import type { Person } from 'svc/contracts/iam';
import type { Principal } from 'svc/sdk';

/**
 * Returns the principal of a person, as the account is now, who entered their password at
 * `authenticatedAt`.
 */
export const userPrincipal = (
  person: Person,
  session: string,
  authenticatedAt: number,
): Principal => ({
  ...identity(person),
  kind: 'user',
  grants: person.grants,
  session,
  authenticatedAt,
});

/** A program that acts for a person, within what its token allows. */
export const tokenPrincipal = (
  person: Person,
  session: string,
  grants: readonly string[],
): Principal => ({
  ...identity(person),
  kind: 'token',
  grants,
  session,
});

/** Copies first and adds later: in the other order each request pays microseconds for its principal. */
function identity({ id, email, display_name: name, role, orgs, selectors }: Person) {
  const known = { id: String(id), email, name, role };
  return orgs || selectors
    ? { ...known, ...(orgs && { orgs }), ...(selectors && { selectors }) }
    : known;
}
