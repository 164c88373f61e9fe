/**
 * The line of the start banner that makes the first administrator; copied, completed and run. Its password is too short to be
 * taken, so that nobody's is the one that is printed here.
 */
export function setupLine(url: string, token: string): string {
  const body = JSON.stringify({ token, email: 'you@example.org', password: 'CHANGE-ME' });
  return `Set up   curl ${url}/api/v1/auth/setup -H 'Content-Type: application/json' -d '${body}'`;
}
